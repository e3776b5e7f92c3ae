// SPDX-License-Identifier: Apache-2.0
// e4m3 products with a scale for each 1 x 128 block of A and each 128 x 128 block of B on Hopper:
//
//   D[m, n] = sum over blocks kb of 128 along k of
//             scale_a[m, kb] * scale_b[n / 128, kb] * (sum over the block of A[m, k] * B[n, k])
//
// The tensor core keeps 13 bits of a sum of fp8 products, so a block's sum goes from its
// accumulators, scaled, into a second set of f32 ones by ordinary fused multiply-adds: promotion.
//
// Persistent, warp-specialized CTAs. One thread of warpgroup 0 loads stages of a ring by TMA: 128
// bytes along k of A and B, and the block's scales. Two consumer warpgroups multiply 64 rows each,
// or 64 columns each of a tile of 64 rows.
//
// Accumulators. A consumer multiplies 64 rows by 128 columns at a time into one set of 64, which is
// promoted before the next group takes it; so a consumer's tensor cores are its neighbour's while
// it promotes. 256 columns, or 128 rows, keep 128 promoted sums a thread beside that. A tile of 192
// columns is one MMA wide, with 96 accumulators beside 96 promoted sums.
//
// What a consumer does between two groups of MMAs is what counts: the neighbour's MMAs hide it only
// in part. Four stages are one loop body, so that the compiler asks for the next stage before the
// multiply-adds of the one before and lays what leads to the next MMAs between these; scales are
// read behind the first MMAs; descriptors are additions to a base that the compiler keeps. Together
// they brought the tensor cores at 4096 x 7168 x 16384 from 87% to 93% of the cycles of an SM at
// work (an H200, by counters; DeepGEMM's kernel has 93%).
//
// Without gain, against the kernel before on an H200, at 4096 x 7168 x 16384: A from registers
// (which takes a fifth of the reads off shared memory): 0.90 of the FLOP a clock, for multiply-adds
// of one consumer then wait for the other's MMAs; two sets of 32 in turns. Consumers that let each
// other begin by named barriers, after one, two or three of an MMA's four steps along k, took 3 to
// 6% longer in bursts and 5 to 11% under lasting load, there and at 8192 cubed. Multiply-adds of
// the last group behind the wait for the next stage, in the source: 90% of the cycles. Shared
// memory is what is short: in the 1,024 cycles that the MMAs of a stage of 256 columns take, these
// read 96 KiB and TMA writes 48, of 128 that it can move.
//
// CTAs of one cluster row work on the same rows of A, CTAs of one cluster column on the same rows
// of B: each loads a part of such a tile and multicasts it. full[s] ends a phase when all bytes of
// a stage have landed; empty[s] when every consumer warp of all CTAs that this CTA's loads write to
// has released the stage. Warps, not warpgroups, for each reads A and scales itself: the proxy
// fence before its arrival orders these reads before the next copy.
//
// Which tiles a CTA does, and where they are, says a `Tiles`, made from a kernel parameter: next()
// gives one after the other. With kEdges it knows where A and B end, and has maps for their last
// rows (kernels/frame/edge.cuh). Loader and consumers each make their own, which is one and the
// same sequence; made before the roles part, it would take registers that neither has.
#pragma once

#include <cstdint>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/wgmma.cuh"
#include "kernels/frame/edge.cuh"
#include "kernels/frame/load_share.cuh"
#include "kernels/frame/workers/step_meeting.cuh"
#include "kernels/gemm_block_scaled/sm90/maps_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/store_sm90.cuh"
#include "kernels/gemm_block_scaled/sm90/tile_sm90.cuh"
#include "kernels/gemm_block_scaled/sm90/tiles_sm90.cuh"

namespace assay::kernels {

template <class Tile, class Tiles, class Work>
__device__ __forceinline__ void load_block_scaled(const BlockScaledMaps& maps, const Work& work,
                                                  int k_blocks, std::uint8_t* shared,
                                                  ptx::Mbarrier* full, ptx::Mbarrier* empty,
                                                  int rank_m, int rank_n) {
  // My share of the shared boxes, and who gets it: bit r of a mask is CTA r.
  constexpr int kShareA = Tile::kTileM / Tile::kClusterN;
  constexpr int kShareB = Tile::kTileN / Tile::kClusterM;
  constexpr std::uint32_t kRowMask = (1u << Tile::kClusterN) - 1;
  std::uint32_t column_mask = 0;
  for (int r = 0; r < Tile::kClusterM; ++r) column_mask |= 1u << (r * Tile::kClusterN);
  const auto mask_a = static_cast<std::uint16_t>(kRowMask << (rank_m * Tile::kClusterN));
  const auto mask_b = static_cast<std::uint16_t>(column_mask << rank_n);
  // What is multicast first, as the loader of the dense products.
  constexpr bool kBFirst = Tile::kClusterM > 1 && Tile::kClusterN == 1;
  int stage = 0;
  std::uint32_t parity = 1;
  Tiles tiles(work);
  TilePlaceSm90 at;
  StepKeeper keeper(tiles.meeting(), rank_m == 0 && rank_n == 0);
  int first_round = Tiles::kEdges ? Tile::kStages : 0;  // steps of it that are left
  while (tiles.next(at)) {
    const int row_a = at.row + rank_n * kShareA, row_b = at.row_b + rank_m * kShareB;
    // Beyond the first round: rows of my shares, and bytes that do not land here.
    int cut_a = kShareA, cut_b = kShareB, less = 0;
    if constexpr (Tiles::kEdges) {
      cut_a = rows_within(tiles.rows_a(), row_a, kShareA);
      cut_b = rows_within(tiles.rows_b(), row_b, kShareB);
      less = Tile::kBytesA + Tile::kBytesB -
             (rows_within(tiles.rows_a(), at.row, Tile::kTileM) +
              rows_within(tiles.rows_b(), at.row_b, Tile::kTileN)) *
                 Tile::kTileK;
    }
    const auto load_a = [&](const CUtensorMap* map, int k) {
      load_share<0, kShareA, (Tile::kClusterN > 1)>(
          shared + stage * Tile::kBytesA + rank_n * kShareA * Tile::kTileK, map, kShareA,
          &full[stage], mask_a, k, row_a, 0);
    };
    const auto load_b = [&](const CUtensorMap* map, int k) {
      load_share<0, kShareB, (Tile::kClusterM > 1)>(
          shared + Tile::kStagesB + stage * Tile::kBytesB + rank_m * kShareB * Tile::kTileK, map,
          kShareB, &full[stage], mask_b, k, row_b, 0);
    };
    const auto begin = [&](int bytes) {
      ptx::mbarrier_wait_parity(&empty[stage], parity);
      // Consumers read scales by ordinary loads. One fence here, between their arrivals and the
      // next copies, costs the MMAs nothing; by each of them, it stalls behind MMAs in flight.
      ptx::fence_proxy_async_shared();
      ptx::mbarrier_arrive_expect_tx(&full[stage], static_cast<std::uint32_t>(bytes));
    };
    const auto end = [&](int kb) {
      std::uint8_t* const scales = shared + Tile::kScales + stage * Tile::kBytesScales;
      ptx::tma_load_2d(scales, &maps.scale_a, &full[stage], at.scale_column / 4 * 4,
                       at.scale_row + kb);
      ptx::tma_load_2d(scales + Tile::kScalesB, &maps.scale_b, &full[stage], kb / 4 * 4,
                       at.scale_row_b);
      if (++stage == Tile::kStages) {
        stage = 0;
        parity ^= 1;
      }
    };
    // A loop for each, for in one the maps' addresses would not be uniform, which TMA wants.
    const auto [first_kb, end_kb] = tiles.blocks(k_blocks);
    const int whole_end = less > 0 ? min(end_kb, first_kb + max(first_round, 0)) : end_kb;
    first_round -= end_kb - first_kb;
    int kb = first_kb;
    for (; kb < whole_end; ++kb) {
      begin(Tile::kBytesStage);
      if constexpr (kBFirst) load_b(&maps.b, kb * Tile::kTileK);
      load_a(&maps.a, kb * Tile::kTileK);
      if constexpr (!kBFirst) load_b(&maps.b, kb * Tile::kTileK);
      end(kb);
    }
    if constexpr (Tiles::kEdges) {
      for (; kb < end_kb; ++kb) {
        begin(Tile::kBytesStage - less);
        if (cut_a == kShareA) {
          load_a(&maps.a, kb * Tile::kTileK);
        } else if (cut_a > 0) {
          load_a(tiles.edge_a(), kb * Tile::kTileK);
        }
        if (cut_b == kShareB) {
          load_b(&maps.b, kb * Tile::kTileK);
        } else if (cut_b > 0) {
          load_b(tiles.edge_b(), kb * Tile::kTileK);
        }
        end(kb);
      }
    }
    keeper.loaded(end_kb - first_kb);
  }
  keeper.leave();
  // Stays until the neighbours have released what they were sent: they signal barriers of this CTA.
  if constexpr (Tile::kClusterSize > 1) {
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_wait_parity(&empty[stage], parity);
      if (++stage == Tile::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
  }
}

// The descriptor of a tile whose lower half went through a shuffle: the compiler, which would make
// it anew for each MMA, keeps that.
__device__ __forceinline__ std::uint64_t kept_descriptor(std::uint32_t address) {
  const std::uint64_t d = ptx::encode_k_major_128b(address);
  const std::uint32_t low = __shfl_sync(0xffffffffu, static_cast<std::uint32_t>(d), 0);
  return (d & 0xffffffff00000000u) | low;
}

// A consumer's part of all tiles.
template <class Tile, class Tiles, class Work>
__device__ __forceinline__ void multiply_block_scaled(const BlockScaledMaps& maps, const Work& work,
                                                      int k_blocks, std::uint8_t* shared,
                                                      ptx::Mbarrier* full, ptx::Mbarrier* empty,
                                                      int rank_m, int rank_n, int consumer) {
  constexpr int kSums = Tile::kWidth / 2;  // accumulators of a group
  constexpr int kGroups = Tile::kGroupsM * Tile::kGroupsN;
  // Scales are read while the first group's MMAs run, if those take long enough.
  constexpr bool kScalesFirst = Tile::kWidth < 128;
  constexpr int kUnrolled = Tile::kUnrolled;
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
  const std::uint32_t origin = ptx::shared_address(shared);
  const std::uint32_t scales = origin + Tile::kScales;
  constexpr int kStepM = 64 * Tile::kConsumersM;  // rows from one group to the next
  const int row_in_tile = Tile::kConsumersM == 1 ? 0 : consumer * 64;
  const int column_in_tile = Tile::kConsumersM == 1 ? consumer * Tile::kColumns : 0;
  const std::uint64_t origin_a = kept_descriptor(origin + row_in_tile * Tile::kTileK);
  const std::uint64_t origin_b =
      kept_descriptor(origin + Tile::kStagesB + column_in_tile * Tile::kTileK);
  const int row_of_warp = row_in_tile + warp * 16;
  const std::uint32_t lane_scale = scales + static_cast<std::uint32_t>(row_of_warp + lane / 4) * 4;

  int stage = 0;
  std::uint32_t parity = 0;
  // Lane r of each warp tells CTA r, if that CTA sends boxes here.
  const bool tells = lane < Tile::kClusterSize &&
                     (lane / Tile::kClusterN == rank_m || lane % Tile::kClusterN == rank_n);
  const auto release = [&](int released) {
    __syncwarp();
    if (!tells) return;
    if constexpr (Tile::kClusterSize > 1) {
      ptx::mbarrier_arrive_remote(&empty[released], lane);
    } else {
      ptx::mbarrier_arrive(&empty[released]);
    }
  };

  // Of rows l / 4 and l / 4 + 8 of the warp's 16, in each group of rows; and of each block of B.
  struct Scales {
    float a[Tile::kGroupsM][2], b[Tile::kBlocksN];
  };
  const auto load_scales = [&](int first_row, int kb) {
    const std::uint32_t of_stage = stage * Tile::kBytesScales;
    Scales found;
#pragma unroll
    for (int m = 0; m < Tile::kGroupsM; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        found.a[m][r] = __uint_as_float(ptx::load_shared_u32(
            lane_scale + of_stage + first_row % 4 * 4 + (m * kStepM + r * 8) * 4));
#pragma unroll
    for (int n = 0; n < Tile::kBlocksN; ++n)
      found.b[n] = __uint_as_float(
          ptx::load_shared_u32(scales + of_stage + Tile::kScalesB + n * 16 + kb % 4 * 4));
    return found;
  };
  const auto plus = [](std::uint64_t descriptor, int units) {  // of 16 bytes
    return (descriptor & 0xffffffff00000000u) |
           (static_cast<std::uint32_t>(descriptor) + static_cast<std::uint32_t>(units));
  };

  Tiles tiles(work);
  TilePlaceSm90 at;
  while (tiles.next(at)) {
    float sum[Tile::kGroupsM][Tile::kGroupsN][kSums] = {};
    const auto [first_kb, end_kb] = tiles.blocks(k_blocks);
#pragma unroll kUnrolled
    for (int kb = first_kb; kb < end_kb; ++kb) {
      ptx::mbarrier_wait_parity(&full[stage], parity);
      Scales scale;
      if constexpr (kScalesFirst) scale = load_scales(at.scale_column, kb);
      const bool odd = Tile::kOddBlocks && at.column % 128 != 0;
      const std::uint64_t stage_a = plus(origin_a, stage * (Tile::kBytesA / 16));
      const std::uint64_t stage_b = plus(origin_b, stage * (Tile::kBytesB / 16));
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        const int m = g / Tile::kGroupsN, n = g % Tile::kGroupsN;
        float part[kSums];
        ptx::wgmma_fence();
#pragma unroll
        for (int k = 0; k < 4; ++k)
          ptx::wgmma<ptx::WgmmaTypes::e4m3>(
              part, plus(stage_a, (m * kStepM * Tile::kTileK + k * 32) / 16),
              plus(stage_b, (n * Tile::kWidth * Tile::kTileK + k * 32) / 16), k != 0);
        ptx::wgmma_commit();
        if (!kScalesFirst && g == 0) scale = load_scales(at.scale_column, kb);
        ptx::wgmma_wait<0>();
        if (g == kGroups - 1) release(stage);
        ptx::wgmma_pin(part);
        // The tile's 64 columns c lie in block c / 2 of B, or where it begins within a block, in
        // the one after it if c is odd.
        float factor[Tile::kWidth / 64][2];
#pragma unroll
        for (int c = 0; c < Tile::kWidth / 64; ++c) {
          const int in_tile = n * Tile::kWidth / 64 + c;
          const int block = in_tile / 2;
          const float of_b =
              Tile::kOddBlocks && in_tile % 2 == 1 && odd ? scale.b[block + 1] : scale.b[block];
#pragma unroll
          for (int r = 0; r < 2; ++r) factor[c][r] = scale.a[m][r] * of_b;
        }
#pragma unroll
        for (int i = 0; i < kSums; ++i)
          sum[m][n][i] = fmaf(factor[i / 32][i / 2 % 2], part[i], sum[m][n][i]);
        ptx::wgmma_pin(sum[m][n]);  // here, and not when the registers are the next group's
      }
      if (++stage == Tile::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
    if constexpr (Tiles::kParts) {
      tiles.leave(sum, consumer);
      return;
    }
    constexpr int kBoxesN = Tile::kColumns / 64, kOfGroup = Tile::kWidth / 64;
#pragma unroll
    for (int box = 0; box < Tile::kBoxes; ++box) {
      const int m = box / kBoxesN, c = box % kBoxesN;
      const int buffer = (consumer * 4 + warp) * Tile::kBuffers + box % Tile::kBuffers;
      store_64_columns_sm90<Tile::kBuffers>(&maps.d, &sum[m][c / kOfGroup][c % kOfGroup * 32],
                                            shared + Tile::kStores + buffer * kBytesStoreSm90,
                                            at.row + m * kStepM + row_of_warp,
                                            at.column + column_in_tile + c * 64, tiles.edge(at));
    }
  }
  if (lane == 0) ptx::bulk_wait_read<0>();
}

template <class Tile, class Tiles, class Work>
__device__ __forceinline__ void gemm_block_scaled(const BlockScaledMaps& maps, const Work& work,
                                                  int k_blocks) {
  static_assert(Tile::kScaleRows > Tile::kTileM || Tiles::kEdges, "a tile's first row is aligned");
  extern __shared__ __align__(1024) std::uint8_t shared[];
  auto* const full = reinterpret_cast<ptx::Mbarrier*>(shared + Tile::kBarriers);
  ptx::Mbarrier* const empty = full + Tile::kStages;
  const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int rank = static_cast<int>(ptx::cluster_cta_rank());
  const int rank_m = Tile::kClusterM == 1 ? 0 : rank / Tile::kClusterN;
  const int rank_n = Tile::kClusterN == 1 ? 0 : rank % Tile::kClusterN;

  if (threadIdx.x == 0) {
    ptx::tma_prefetch_map(&maps.a);
    ptx::tma_prefetch_map(&maps.b);
    ptx::tma_prefetch_map(&maps.scale_a);
    ptx::tma_prefetch_map(&maps.scale_b);
    ptx::tma_prefetch_map(&maps.d);
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], (Tile::kClusterM + Tile::kClusterN - 1) * Tile::kConsumers * 4);
    }
    ptx::fence_mbarrier_init();
  }
  if constexpr (Tile::kClusterSize > 1) {
    __syncwarp();
    ptx::cluster_arrive_relaxed();  // the barriers have their own fence
    ptx::cluster_wait();
  } else {
    __syncthreads();
  }
  // After parts comes the kernel that adds them, which is better late (DenseWorkSm90).
  if constexpr (!Tiles::kParts) ptx::launch_dependents();
  ptx::wait_for_dependencies();  // launch_kernel(): nothing was read or written so far
  if (warpgroup == 0) {
    ptx::setmaxnreg_decrease<Tile::kProducerRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one())
      load_block_scaled<Tile, Tiles>(maps, work, k_blocks, shared, full, empty, rank_m, rank_n);
  } else {
    ptx::setmaxnreg_increase<Tile::kConsumerRegisters>();
    multiply_block_scaled<Tile, Tiles>(maps, work, k_blocks, shared, full, empty, rank_m, rank_n,
                                       warpgroup - 1);
  }
}

}  // namespace assay::kernels

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
// bytes along k of A and B, and the block's scales. Two consumer warpgroups multiply 64 rows each.
//
// What bounds it. A 64-row MMA reads its B from shared memory at 64 bytes a clock, whatever its N;
// A from shared memory would be another 32 at N = 128, and a stage of a 128 x 256 tile comes in at
// 48, of 128 that shared memory has. So A goes to registers, once a stage by ldmatrix, and every
// column group of the tile uses it again: 64 + 16 + 48. And as A costs nothing there, groups may be
// 64 columns narrow: two sets of 32 accumulators take turns, one is promoted while the next group
// runs, beside 128 promoted sums for 256 columns.
//
// CTAs of one cluster row work on the same rows of A, CTAs of one cluster column on the same rows
// of B: each loads a part of such a tile and multicasts it. full[s] ends a phase when all bytes of
// a stage have landed; empty[s] when every consumer warp of all CTAs that this CTA's loads write to
// has released the stage. Warps, not warpgroups, for each reads A and scales itself: the proxy
// fence before its arrival orders these reads before the next copy.
//
// Which tiles a CTA does, and where they are, says a `Tiles`, made from a kernel parameter: next()
// gives one after the other. Loader and consumers each make their own, which is one and the same
// sequence; made before the roles part, it would take registers that neither has.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/wgmma.cuh"
#include "harness/ptx/wgmma_operands.cuh"
#include "kernels/gemm_block_scaled/sm90/maps_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/store_sm90.cuh"
#include "kernels/gemm_block_scaled/sm90/tiles_sm90.cuh"

namespace assay::kernels {

// Everything about a variant that is fixed when it is compiled. kWidth: columns of one MMA. kParts:
// sets of accumulators that take turns. kARegisters: A is multiplied from registers.
template <int kTileN_, int kStages_, int kClusterM_, int kClusterN_, int kWidth_, int kParts_,
          bool kARegisters_>
struct BlockScaledTileSm90 {
  static constexpr int kTileM = 128;
  static constexpr int kTileN = kTileN_;
  static constexpr int kTileK = 128;  // elements and bytes: one swizzle row, one block of scales
  static constexpr int kStages = kStages_;
  static constexpr int kClusterM = kClusterM_;  // CTAs along m: they share B
  static constexpr int kClusterN = kClusterN_;  // CTAs along n: they share A
  static constexpr int kWidth = kWidth_;
  static constexpr int kParts = kParts_;
  static constexpr bool kARegisters = kARegisters_;

  static constexpr int kConsumers = 2;
  static constexpr int kClusterSize = kClusterM * kClusterN;
  static constexpr int kThreads = 128 * (1 + kConsumers);
  static constexpr int kGroups = kTileN / kWidth;
  static constexpr int kBlocksN = kTileN / 128;  // blocks of scale_b
  // Registers: 24 * 128 + 240 * 256 = 64512 of the SM's 65536.
  static constexpr int kProducerRegisters = 24;
  static constexpr int kConsumerRegisters = 240;

  static constexpr int kBytesA = kTileM * kTileK;
  static constexpr int kBytesB = kTileN * kTileK;
  // Of a stage: the scales of the tile's rows of A, then for each block of B four along k, of which
  // one is used. TMA moves no less than 16 bytes, begins on a multiple of 16 of global memory (so
  // that up to three rows before the tile's first one come along) and on 128 of shared memory.
  static constexpr int kScaleRows = kTileM + 4;
  static constexpr int kScalesB = 640;
  static constexpr int kBytesScales = 768;
  static constexpr int kBytesStage =
      kBytesA + kBytesB + kScaleRows * 4 + kBlocksN * 16;  // that land
  static constexpr int kBytesStores = kConsumers * 4 * 2 * kBytesStoreSm90;
  // Where things are in shared memory. What is swizzled comes first, each on 1024 bytes.
  static constexpr int kStagesB = kStages * kBytesA;
  static constexpr int kStores = kStagesB + kStages * kBytesB;
  static constexpr int kScales = kStores + kBytesStores;
  // Barriers lie in the gap behind the first stage's scales of B.
  static constexpr int kBarriers = kScales + kScalesB + 32;
  static constexpr int kSharedBytes = kScales + kStages * kBytesScales;

  static_assert(kTileN % 128 == 0 && kTileN % kWidth == 0 && (kParts == 1 || kParts == 2));
  static_assert(kParts == 1 || kGroups % 2 == 0, "the last group of a stage is in the second set");
  static_assert(kTileM / kClusterN % 8 == 0 && kTileN / kClusterM % 8 == 0,
                "a share of a box must be whole swizzle atoms");
  static_assert(kBlocksN <= 2 && 2 * kStages * sizeof(ptx::Mbarrier) <= 96, "the gap has 96 bytes");
  static_assert(kSharedBytes <= 232448, "227 KiB of shared memory per CTA");
};

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
  int stage = 0;
  std::uint32_t parity = 1;
  Tiles tiles(work);
  TilePlaceSm90 at;
  while (tiles.next(at)) {
    for (int kb = 0; kb < k_blocks; ++kb) {
      std::uint8_t* const a = shared + stage * Tile::kBytesA + rank_n * kShareA * Tile::kTileK;
      std::uint8_t* const b =
          shared + Tile::kStagesB + stage * Tile::kBytesB + rank_m * kShareB * Tile::kTileK;
      std::uint8_t* const scales = shared + Tile::kScales + stage * Tile::kBytesScales;
      const int row_a = at.row + rank_n * kShareA, row_b = at.row_b + rank_m * kShareB;
      ptx::mbarrier_wait_parity(&empty[stage], parity);
      // Consumers read scales by ordinary loads. One fence here, between their arrivals and the
      // next copies, costs the MMAs nothing; by each of them, it stalls behind MMAs in flight.
      ptx::fence_proxy_async_shared();
      ptx::mbarrier_arrive_expect_tx(&full[stage], Tile::kBytesStage);
      if constexpr (Tile::kClusterN > 1) {
        ptx::tma_load_2d_multicast(a, &maps.a, &full[stage], mask_a, kb * Tile::kTileK, row_a);
      } else {
        ptx::tma_load_2d(a, &maps.a, &full[stage], kb * Tile::kTileK, row_a);
      }
      if constexpr (Tile::kClusterM > 1) {
        ptx::tma_load_2d_multicast(b, &maps.b, &full[stage], mask_b, kb * Tile::kTileK, row_b);
      } else {
        ptx::tma_load_2d(b, &maps.b, &full[stage], kb * Tile::kTileK, row_b);
      }
      ptx::tma_load_2d(scales, &maps.scale_a, &full[stage], at.scale_column / 4 * 4,
                       at.scale_row + kb);
      ptx::tma_load_2d(scales + Tile::kScalesB, &maps.scale_b, &full[stage], kb / 4 * 4,
                       at.scale_row_b);
      if (++stage == Tile::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
  }
}

// A consumer's 64 rows of all tiles.
template <class Tile, class Tiles, class Work>
__device__ __forceinline__ void multiply_block_scaled(const BlockScaledMaps& maps, const Work& work,
                                                      int k_blocks, std::uint8_t* shared,
                                                      ptx::Mbarrier* full, ptx::Mbarrier* empty,
                                                      int rank_m, int rank_n, int consumer) {
  constexpr int kSums = Tile::kWidth / 2;  // accumulators of a group
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
  const std::uint32_t origin = ptx::shared_address(shared);
  const std::uint32_t scales = origin + Tile::kScales;
  const std::uint64_t origin_a = ptx::encode_k_major_128b(origin + consumer * 64 * Tile::kTileK);
  const std::uint64_t origin_b = ptx::encode_k_major_128b(origin + Tile::kStagesB);
  // ldmatrix: lane l gives the address of row l % 16, bytes 16 * (l / 16) of a step of 32 along k.
  // The swizzle flips address bits 4 to 6, of which a step along k is the upper two.
  const int row_in_tile = consumer * 64 + warp * 16;
  const std::uint32_t lane_a = origin +
                               static_cast<std::uint32_t>(row_in_tile + lane % 16) * Tile::kTileK +
                               static_cast<std::uint32_t>((lane / 16) ^ (lane % 8)) * 16;
  const std::uint32_t lane_scale = scales + static_cast<std::uint32_t>(row_in_tile + lane / 4) * 4;

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

  Tiles tiles(work);
  TilePlaceSm90 at;
  while (tiles.next(at)) {
    float sum[Tile::kGroups][kSums];
    float part[Tile::kParts][kSums];
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
#pragma unroll
      for (int g = 0; g < Tile::kGroups; ++g) sum[g][i] = 0;
      part[Tile::kParts - 1][i] = 0;
    }

    // Rows l / 4 and l / 4 + 8 of the warp's 16, in each block of columns; `late` is the last
    // block's of the stage before, whose last group is promoted in this one (in the first, zeros
    // are: ptxas serializes MMAs whose accumulators are read on some paths only, C7514).
    float scale[Tile::kBlocksN][2], late[2] = {0, 0};
    const auto promote = [&](float(&sums)[kSums], float(&from)[kSums], const float(&by)[2]) {
      ptx::wgmma_pin(from);
#pragma unroll
      for (int i = 0; i < kSums; ++i) sums[i] = fmaf(by[i / 2 % 2], from[i], sums[i]);
      // Here and not later, when the registers are another group's.
      ptx::wgmma_pin(sums);
    };
    int previous = 0;
    for (int kb = 0; kb < k_blocks; ++kb) {
      ptx::mbarrier_wait_parity(&full[stage], parity);
      const std::uint32_t scale_at =
          lane_scale + stage * Tile::kBytesScales + at.scale_column % 4 * 4;
      const float scale_a[2] = {__uint_as_float(ptx::load_shared_u32(scale_at)),
                                __uint_as_float(ptx::load_shared_u32(scale_at + 8 * 4))};
#pragma unroll
      for (int n = 0; n < Tile::kBlocksN; ++n) {
        const float scale_b = __uint_as_float(ptx::load_shared_u32(
            scales + stage * Tile::kBytesScales + Tile::kScalesB + n * 16 + kb % 4 * 4));
#pragma unroll
        for (int r = 0; r < 2; ++r) scale[n][r] = scale_a[r] * scale_b;
      }
      if constexpr (Tile::kParts == 2) {
        ptx::wgmma_wait<0>();
      }
      std::uint32_t a[4][4];
      if constexpr (Tile::kARegisters) {
#pragma unroll
        for (int k = 0; k < 4; ++k)
          ptx::ldmatrix_x4(a[k], (lane_a + stage * Tile::kBytesA) ^ (k * 32));
      }
      const std::uint64_t stage_a = ptx::advance(origin_a, stage * Tile::kBytesA);
      const std::uint64_t stage_b = ptx::advance(origin_b, stage * Tile::kBytesB);
#pragma unroll
      for (int g = 0; g < Tile::kGroups; ++g) {
        ptx::wgmma_fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const std::uint64_t b = ptx::advance(stage_b, g * Tile::kWidth * Tile::kTileK + k * 32);
          if constexpr (Tile::kARegisters) {
            ptx::wgmma_e4m3(part[g % Tile::kParts], a[k], b, k != 0);
          } else {
            ptx::wgmma_e4m3(part[g % Tile::kParts], ptx::advance(stage_a, k * 32), b, k != 0);
          }
        }
        ptx::wgmma_commit();
        if constexpr (Tile::kParts == 1) {
          ptx::wgmma_wait<0>();
          if (g == Tile::kGroups - 1) release(stage);
          promote(sum[g], part[0], scale[g * Tile::kWidth / 128]);
        } else if (g == 0) {
          if (kb != 0) release(previous);
          promote(sum[Tile::kGroups - 1], part[1], late);
        } else {
          ptx::wgmma_wait<1>();
          promote(sum[g - 1], part[(g - 1) % 2], scale[(g - 1) * Tile::kWidth / 128]);
        }
      }
      late[0] = scale[Tile::kBlocksN - 1][0];
      late[1] = scale[Tile::kBlocksN - 1][1];
      previous = stage;
      if (++stage == Tile::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
    if constexpr (Tile::kParts == 2) {
      ptx::wgmma_wait<0>();
      release(previous);
      promote(sum[Tile::kGroups - 1], part[1], late);
    }
#pragma unroll
    for (int c = 0; c < Tile::kTileN / 64; ++c) {
      constexpr int kPerGroup = Tile::kWidth / 64;
      store_64_columns_sm90(
          &maps.d, &sum[c / kPerGroup][c % kPerGroup * 32],
          shared + Tile::kStores + ((consumer * 4 + warp) * 2 + c % 2) * kBytesStoreSm90,
          at.row + row_in_tile, at.column + c * 64, tiles.edge(at));
    }
  }
  if (lane == 0) ptx::bulk_wait_read<0>();
}

template <class Tile, class Tiles, class Work>
__device__ __forceinline__ void gemm_block_scaled(const BlockScaledMaps& maps, const Work& work,
                                                  int k_blocks) {
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
    ptx::cluster_sync();
  } else {
    __syncthreads();
  }
  if (warpgroup == 0) {
    ptx::setmaxnreg_decrease<Tile::kProducerRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one())
      load_block_scaled<Tile, Tiles>(maps, work, k_blocks, shared, full, empty, rank_m, rank_n);
  } else {
    ptx::setmaxnreg_increase<Tile::kConsumerRegisters>();
    multiply_block_scaled<Tile, Tiles>(maps, work, k_blocks, shared, full, empty, rank_m, rank_n,
                                       warpgroup - 1);
  }
  // Nobody may leave while a neighbour can still signal its barriers.
  if constexpr (Tile::kClusterSize > 1) {
    __syncwarp();
    ptx::cluster_arrive_relaxed();
    ptx::cluster_wait();
  }
}

}  // namespace assay::kernels

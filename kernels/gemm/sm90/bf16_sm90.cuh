// SPDX-License-Identifier: Apache-2.0
// bf16 GEMM for Hopper: D[m, n] = sum over k of A[m, k] * B[n, k], f32 accumulation.
//
// Persistent clusters of warp-specialized CTAs. Warpgroup 0 gives its registers away and one of its
// threads loads: boxes of A and B, 64 elements (one 128-byte swizzled row) deep along k, into a
// ring of kStages buffers. Two consumer warpgroups multiply, each its own half of the tile's rows,
// and write their part of D through shared memory with TMA while the loader is already filling the
// ring for the next tile.
//
// Clusters share operands. CTAs of one cluster row work on the same rows of A, CTAs of one cluster
// column on the same rows of B. Each loads only its share of such a tile and multicasts it, so a
// 2 x 1 cluster of 128 x 256 tiles reads from L2 what a 256 x 256 tile would.
//
// The ring. full[s] ends a phase when all bytes of a stage have landed (whoever sent them).
// empty[s] ends a phase when every consumer warpgroup that reads a box this CTA sends has released
// it: the two of this CTA and the two of each CTA in the same cluster row or column. Stage and
// parity run on across tiles; producer and consumers step through the same sequence of tiles on
// their own.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/wgmma.cuh"
#include "kernels/gemm/raster.hpp"

namespace assay::kernels {

// Everything about a variant that is fixed when it is compiled.
template <int kTileM_, int kTileN_, int kStages_, int kClusterM_, int kClusterN_, int kInFlight_>
struct GemmTileSm90 {
  static constexpr int kTileM = kTileM_;  // rows of D per CTA
  static constexpr int kTileN = kTileN_;  // columns of D per CTA
  static constexpr int kTileK = 64;       // elements per stage: 128 bytes, one swizzle row
  static constexpr int kStages = kStages_;
  static constexpr int kClusterM = kClusterM_;  // CTAs along m: they share B
  static constexpr int kClusterN = kClusterN_;  // CTAs along n: they share A
  static constexpr int kInFlight = kInFlight_;  // stages whose MMAs may be unfinished: 0 or 1

  static constexpr int kConsumers = 2;
  static constexpr int kThreads = 128 * (1 + kConsumers);
  static constexpr int kClusterSize = kClusterM * kClusterN;
  // wgmma is 64 rows high; a consumer owns this many such blocks, one below the other.
  static constexpr int kBlocks = kTileM / (64 * kConsumers);
  // Registers: 24 * 128 + 240 * 256 = 64512 of the SM's 65536.
  static constexpr int kProducerRegisters = 24;
  static constexpr int kConsumerRegisters = 240;

  static constexpr int kBytesA = kTileM * kTileK * 2;
  static constexpr int kBytesB = kTileN * kTileK * 2;
  // Output staging: two buffers of 16 rows x 64 columns for each consumer warp.
  static constexpr int kStoreColumns = 64;
  static constexpr int kBytesStore = 16 * kStoreColumns * 2;
  static constexpr int kBytesStores = kConsumers * 4 * 2 * kBytesStore;
  static constexpr int kSharedBytes = kStages * (kBytesA + kBytesB) + kBytesStores +
                                      2 * kStages * static_cast<int>(sizeof(ptx::Mbarrier));

  static_assert(kTileM % (64 * kConsumers) == 0 && kTileN % kStoreColumns == 0 && kTileN <= 256);
  static_assert(kTileM / kClusterN % 8 == 0 && kTileN / kClusterM % 8 == 0,
                "a share of a box must be whole swizzle atoms");
  static_assert(kBlocks * kTileN / 2 <= 200, "accumulators must fit the registers");
  static_assert(kSharedBytes <= 232448, "227 KiB of shared memory per CTA");
};

// Writes a consumer warp's part of one 64-row block, 16 x kTileN, starting at (row, column) of D.
//
// stmatrix takes four 8 x 8 matrices: accumulators 8j .. 8j + 7 of a lane are two columns of rows
// l / 4 and l / 4 + 8 in column groups 2j and 2j + 1. Lane l gives the address of row l % 16 in
// column group 2j + l / 16. Rows of the buffer are 128 bytes under the 128-byte swizzle, which
// puts the eight rows of a matrix into different banks.
template <class Tile>
__device__ void store_block(const CUtensorMap* map, const float (&d)[Tile::kTileN / 2],
                            std::uint8_t* buffers, int& next_buffer, int row, int column) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t lane_row = lane % 16;
#pragma unroll
  for (int chunk = 0; chunk < Tile::kTileN / Tile::kStoreColumns; ++chunk) {
    std::uint8_t* buffer = buffers + next_buffer * Tile::kBytesStore;
    next_buffer ^= 1;
    // The store before the last one used this buffer.
    if (lane == 0) ptx::bulk_wait_read<1>();
    __syncwarp();
#pragma unroll
    for (int j = 0; j < Tile::kStoreColumns / 16; ++j) {
      std::uint32_t packed[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = chunk * Tile::kStoreColumns / 2 + j * 8 + i * 2;
        const __nv_bfloat162 pair = __floats2bfloat162_rn(d[at], d[at + 1]);
        packed[i] = reinterpret_cast<const std::uint32_t&>(pair);
      }
      const std::uint32_t group = 2 * j + lane / 16;
      ptx::stmatrix_x4(ptx::shared_address(buffer) + lane_row * 128 + ((group ^ lane_row % 8) * 16),
                       packed);
    }
    ptx::fence_proxy_async_shared();
    __syncwarp();
    if (lane == 0) {
      ptx::tma_store_2d(map, buffer, column + chunk * Tile::kStoreColumns, row);
      ptx::bulk_commit();
    }
  }
}

// Template arguments are GemmTileSm90's.
template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN, int kInFlight>
__global__ void __cluster_dims__(kClusterM* kClusterN, 1, 1) __launch_bounds__(384, 1)
    gemm_bf16_nt_sm90(const __grid_constant__ CUtensorMap map_a,
                      const __grid_constant__ CUtensorMap map_b,
                      const __grid_constant__ CUtensorMap map_d, const Raster raster,
                      const int k_steps) {
  using Tile = GemmTileSm90<kTileM, kTileN, kStages, kClusterM, kClusterN, kInFlight>;
  static_assert(Tile::kThreads == 384);
  extern __shared__ __align__(1024) std::uint8_t shared[];
  std::uint8_t* const stages_a = shared;
  std::uint8_t* const stages_b = stages_a + Tile::kStages * Tile::kBytesA;
  std::uint8_t* const stores = stages_b + Tile::kStages * Tile::kBytesB;
  auto* const full = reinterpret_cast<ptx::Mbarrier*>(stores + Tile::kBytesStores);
  ptx::Mbarrier* const empty = full + Tile::kStages;

  const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int rank = static_cast<int>(ptx::cluster_cta_rank());
  const int rank_m = rank / Tile::kClusterN;
  const int rank_n = rank % Tile::kClusterN;

  if (threadIdx.x == 0) {
    ptx::tma_prefetch_map(&map_a);
    ptx::tma_prefetch_map(&map_b);
    ptx::tma_prefetch_map(&map_d);
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], (Tile::kClusterM + Tile::kClusterN - 1) * Tile::kConsumers);
    }
    ptx::fence_mbarrier_init();
  }
  if constexpr (Tile::kClusterSize > 1) {
    ptx::cluster_sync();
  } else {
    __syncthreads();
  }

  const int first = static_cast<int>(blockIdx.x) / Tile::kClusterSize;
  const int step = static_cast<int>(gridDim.x) / Tile::kClusterSize;
  const int tile_count = raster.count();
  int stage = 0;
  std::uint32_t parity = 0;
  const auto next_stage = [&] {
    if (++stage == Tile::kStages) {
      stage = 0;
      parity ^= 1;
    }
  };

  if (warpgroup == 0) {
    ptx::setmaxnreg_decrease<Tile::kProducerRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one()) {
      // My share of the shared boxes, and who gets it: bit r of a mask is CTA r.
      constexpr int kShareA = Tile::kTileM / Tile::kClusterN;
      constexpr int kShareB = Tile::kTileN / Tile::kClusterM;
      constexpr std::uint32_t kRowMask = (1u << Tile::kClusterN) - 1;
      std::uint32_t column_mask = 0;
      for (int r = 0; r < Tile::kClusterM; ++r) column_mask |= 1u << (r * Tile::kClusterN);
      const auto mask_a = static_cast<std::uint16_t>(kRowMask << (rank_m * Tile::kClusterN));
      const auto mask_b = static_cast<std::uint16_t>(column_mask << rank_n);

      for (int index = first; index < tile_count; index += step) {
        const TilePosition at = raster.at(index);
        const int row_a = (at.m * Tile::kClusterM + rank_m) * Tile::kTileM + rank_n * kShareA;
        const int row_b = (at.n * Tile::kClusterN + rank_n) * Tile::kTileN + rank_m * kShareB;
        for (int ks = 0; ks < k_steps; ++ks) {
          std::uint8_t* const a = stages_a + stage * Tile::kBytesA + rank_n * kShareA * 128;
          std::uint8_t* const b = stages_b + stage * Tile::kBytesB + rank_m * kShareB * 128;
          ptx::mbarrier_wait_parity(&empty[stage], parity ^ 1);
          ptx::mbarrier_arrive_expect_tx(&full[stage], Tile::kBytesA + Tile::kBytesB);
          if constexpr (Tile::kClusterN > 1) {
            ptx::tma_load_2d_multicast(a, &map_a, &full[stage], mask_a, ks * Tile::kTileK, row_a);
          } else {
            ptx::tma_load_2d(a, &map_a, &full[stage], ks * Tile::kTileK, row_a);
          }
          if constexpr (Tile::kClusterM > 1) {
            ptx::tma_load_2d_multicast(b, &map_b, &full[stage], mask_b, ks * Tile::kTileK, row_b);
          } else {
            ptx::tma_load_2d(b, &map_b, &full[stage], ks * Tile::kTileK, row_b);
          }
          next_stage();
        }
      }
    }
  } else {
    ptx::setmaxnreg_increase<Tile::kConsumerRegisters>();
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128;
    const int warp = thread / 32;
    std::uint8_t* const store_buffers = stores + (consumer * 4 + warp) * 2 * Tile::kBytesStore;
    int next_buffer = 0;

    // Thread r of each consumer tells CTA r, if that CTA sends boxes here.
    const bool tells = thread < Tile::kClusterSize &&
                       (thread / Tile::kClusterN == rank_m || thread % Tile::kClusterN == rank_n);
    const auto release = [&](int released) {
      if (!tells) return;
      if constexpr (Tile::kClusterSize > 1) {
        ptx::mbarrier_arrive_remote(&empty[released], thread);
      } else {
        ptx::mbarrier_arrive(&empty[released]);
      }
    };

    const std::uint64_t origin_a = ptx::encode_k_major_128b(ptx::shared_address(stages_a) +
                                                            consumer * Tile::kBlocks * 64 * 128);
    const std::uint64_t origin_b = ptx::encode_k_major_128b(ptx::shared_address(stages_b));

    for (int index = first; index < tile_count; index += step) {
      const TilePosition at = raster.at(index);
      float d[Tile::kBlocks][Tile::kTileN / 2];
      int previous = 0;
      for (int ks = 0; ks < k_steps; ++ks) {
        ptx::mbarrier_wait_parity(&full[stage], parity);
        const std::uint64_t a = ptx::advance(origin_a, stage * Tile::kBytesA);
        const std::uint64_t b = ptx::advance(origin_b, stage * Tile::kBytesB);
        ptx::wgmma_fence();
#pragma unroll
        for (int k = 0; k < Tile::kTileK / 16; ++k) {
#pragma unroll
          for (int block = 0; block < Tile::kBlocks; ++block) {
            ptx::wgmma_bf16(d[block], ptx::advance(a, block * 64 * 128 + k * 32),
                            ptx::advance(b, k * 32), ks != 0 || k != 0);
          }
        }
        ptx::wgmma_commit();
        ptx::wgmma_wait<Tile::kInFlight>();
        if constexpr (Tile::kInFlight == 0) {
          release(stage);
        } else {
          if (ks != 0) release(previous);
          previous = stage;
        }
        next_stage();
      }
      if constexpr (Tile::kInFlight != 0) {
        ptx::wgmma_wait<0>();
        release(previous);
      }
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) {
        ptx::wgmma_pin(d[block]);
        const int row = (at.m * Tile::kClusterM + rank_m) * Tile::kTileM +
                        (consumer * Tile::kBlocks + block) * 64 + warp * 16;
        const int column = (at.n * Tile::kClusterN + rank_n) * Tile::kTileN;
        store_block<Tile>(&map_d, d[block], store_buffers, next_buffer, row, column);
      }
    }
    if (thread % 32 == 0) ptx::bulk_wait_read<0>();
  }

  // Nobody may leave while a neighbour can still signal its barriers.
  if constexpr (Tile::kClusterSize > 1) {
    __syncwarp();
    ptx::cluster_arrive_relaxed();
    ptx::cluster_wait();
  }
}

}  // namespace assay::kernels

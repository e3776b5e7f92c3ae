// SPDX-License-Identifier: Apache-2.0
// bf16 GEMM for the fifth generation's tensor cores: D[m, n] = sum over k of A[m, k] * B[n, k], f32
// accumulation in tensor memory. Built, disassembled and run in the host model, not on silicon.
//
// Persistent CTAs, or pairs of CTAs, of six warps. Warp 0 loads boxes of A and B, 64 elements (one
// 128-byte swizzled row) deep along k, into a ring of kStages buffers. Warp 1 allocates tensor
// memory; one of its threads issues the MMAs. Warps 2 to 5 take the sums out of tensor memory, each
// the 32 lanes of its rank modulo 4, while the next tile's MMAs go to the other of two buffers.
//
// A pair multiplies 256 rows by kTileN columns: each CTA loads its 128 rows of A and half the rows
// of B, and holds its 128 rows of the sum. The first CTA of the pair issues all MMAs.
//
// Barriers of the first CTA (* of each CTA, by multicast):
//   full[s]      all bytes of a stage have landed, in both CTAs
//   empty[s] *   the MMAs that read the stage are done
//   sum_full[b] *  the MMAs of a tile are done
//   sum_empty[b]   the warps of both CTAs have taken its sums
// Parities run on across tiles.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tcgen05.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "kernels/gemm/raster.hpp"

namespace assay::kernels {

template <int kCtas_, int kTileN_, int kStages_>
struct GemmTileSm100 {
  static constexpr int kCtas = kCtas_;  // 1, or 2: a pair
  static constexpr int kRows = 128;     // rows of D per CTA: the lanes of tensor memory
  static constexpr int kTileM = kRows * kCtas;
  static constexpr int kTileN = kTileN_;  // columns of D
  static constexpr int kTileK = 64;       // elements per stage: 128 bytes, one swizzle row
  static constexpr int kStages = kStages_;
  static constexpr int kRowsB = kTileN / kCtas;  // rows of B per CTA

  static constexpr int kThreads = 192;
  static constexpr int kBytesA = kRows * kTileK * 2;
  static constexpr int kBytesB = kRowsB * kTileK * 2;
  static constexpr int kColumns = 2 * kTileN;  // of tensor memory: two buffers
  static constexpr int kBarriers = 2 * kStages + 4;
  static constexpr int kSharedBytes =
      kStages * (kBytesA + kBytesB) + kBarriers * static_cast<int>(sizeof(ptx::Mbarrier)) + 16;

  static constexpr std::uint32_t kInstruction =
      ptx::tcgen05::instruction_descriptor({.kind = ptx::tcgen05::Kind::f16,
                                            .a = ptx::tcgen05::Element::bf16,
                                            .b = ptx::tcgen05::Element::bf16,
                                            .m = kTileM,
                                            .n = kTileN});

  static_assert(kCtas == 1 || kCtas == 2);
  static_assert(kTileN % 32 == 0 && kTileN <= 256 && (kColumns & (kColumns - 1)) == 0);
  static_assert(kSharedBytes <= 232448, "227 KiB of shared memory per CTA");
};

// Where a ring of buffers stands.
template <int kCount>
struct RingSm100 {
  int at = 0;
  std::uint32_t parity = 0;
  __device__ void next() {
    if (++at == kCount) {
      at = 0;
      parity ^= 1;
    }
  }
};

// Writes a warp's 32 rows of a tile, a row to a thread. `sums`: their first column in tensor
// memory.
template <class Tile>
__device__ void store_rows_sm100(__nv_bfloat16* d, std::uint32_t sums, int row, int column, int m,
                                 int n) {
#pragma unroll
  for (int part = 0; part < Tile::kTileN; part += 32) {
    std::uint32_t sum[32];
    ptx::tcgen05_load_x32(sum, sums + static_cast<std::uint32_t>(part));
    ptx::tcgen05_wait_load();
    ptx::tcgen05_pin(sum);
    // N is a multiple of 8: eight columns are inside or outside together.
#pragma unroll
    for (int i = 0; i < 32; i += 8) {
      std::uint32_t packed[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(__uint_as_float(sum[i + 2 * j]),
                                                          __uint_as_float(sum[i + 2 * j + 1]));
        packed[j] = reinterpret_cast<const std::uint32_t&>(pair);
      }
      const int at = column + part + i;
      if (row < m && at < n)
        *reinterpret_cast<uint4*>(d + static_cast<std::size_t>(row) * static_cast<std::size_t>(n) +
                                  at) = make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }
  }
}

// Template arguments are GemmTileSm100's.
template <int kCtas, int kTileN, int kStages>
__global__ void __cluster_dims__(kCtas, 1, 1) __launch_bounds__(192, 1)
    gemm_bf16_nt_sm100(const __grid_constant__ CUtensorMap map_a,
                       const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* const d,
                       const Raster raster, const int k_steps, const int m, const int n) {
  using Tile = GemmTileSm100<kCtas, kTileN, kStages>;
  extern __shared__ __align__(1024) std::uint8_t shared[];
  std::uint8_t* const stages_a = shared;
  std::uint8_t* const stages_b = stages_a + kStages * Tile::kBytesA;
  auto* const full = reinterpret_cast<ptx::Mbarrier*>(stages_b + kStages * Tile::kBytesB);
  ptx::Mbarrier* const empty = full + kStages;
  ptx::Mbarrier* const sum_full = empty + kStages;
  ptx::Mbarrier* const sum_empty = sum_full + 2;
  auto* const address = reinterpret_cast<std::uint32_t*>(sum_empty + 2);

  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  const int rank = kCtas == 1 ? 0 : static_cast<int>(ptx::cluster_cta_rank());

  if (threadIdx.x == 0) {
    ptx::tma_prefetch_map(&map_a);
    ptx::tma_prefetch_map(&map_b);
    for (int s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], 1);
    }
    for (int b = 0; b < 2; ++b) {
      ptx::mbarrier_init(&sum_full[b], 1);
      ptx::mbarrier_init(&sum_empty[b], 4 * kCtas);
    }
    ptx::fence_mbarrier_init();
  }
  if (warp == 1) {
    ptx::tcgen05_alloc<kCtas>(address, Tile::kColumns);
    ptx::tcgen05_relinquish_alloc_permit<kCtas>();
  }
  ptx::tcgen05_fence_before_thread_sync();
  if constexpr (kCtas > 1) ptx::cluster_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  const std::uint32_t sums = *address;

  const int first = static_cast<int>(blockIdx.x) / kCtas;
  const int step = static_cast<int>(gridDim.x) / kCtas;
  const int tile_count = raster.count();

  if (warp == 0 && ptx::elect_one()) {
    RingSm100<kStages> ring;
    for (int index = first; index < tile_count; index += step) {
      const TilePosition at = raster.at(index);
      const int row_a = at.m * Tile::kTileM + rank * Tile::kRows;
      const int row_b = at.n * kTileN + rank * Tile::kRowsB;
      for (int ks = 0; ks < k_steps; ++ks, ring.next()) {
        std::uint8_t* const a = stages_a + ring.at * Tile::kBytesA;
        std::uint8_t* const b = stages_b + ring.at * Tile::kBytesB;
        ptx::Mbarrier* const barrier = &full[ring.at];
        ptx::mbarrier_wait_parity(&empty[ring.at], ring.parity ^ 1);
        if (rank == 0)
          ptx::mbarrier_arrive_expect_tx(barrier, kCtas * (Tile::kBytesA + Tile::kBytesB));
        if constexpr (kCtas == 1) {
          ptx::tma_load_2d(a, &map_a, barrier, ks * Tile::kTileK, row_a);
          ptx::tma_load_2d(b, &map_b, barrier, ks * Tile::kTileK, row_b);
        } else {
          ptx::tma_load_2d_pair(a, &map_a, barrier, 0, ks * Tile::kTileK, row_a);
          ptx::tma_load_2d_pair(b, &map_b, barrier, 0, ks * Tile::kTileK, row_b);
        }
      }
    }
    // The last arrivals must find this CTA still there.
    for (int s = 0; s < kStages; ++s, ring.next())
      ptx::mbarrier_wait_parity(&empty[ring.at], ring.parity ^ 1);
  } else if (warp == 1 && rank == 0 && ptx::elect_one()) {
    const std::uint64_t origin_a = ptx::tcgen05::k_major_128b(ptx::shared_address(stages_a));
    const std::uint64_t origin_b = ptx::tcgen05::k_major_128b(ptx::shared_address(stages_b));
    const auto commit = [](ptx::Mbarrier* barrier) {
      if constexpr (kCtas == 1)
        ptx::tcgen05_commit(barrier);
      else
        ptx::tcgen05_commit_multicast(barrier, 3);
    };
    RingSm100<kStages> ring;
    RingSm100<2> buffer;
    for (int index = first; index < tile_count; index += step, buffer.next()) {
      ptx::mbarrier_wait_parity(&sum_empty[buffer.at], buffer.parity ^ 1);
      ptx::tcgen05_fence_after_thread_sync();
      const std::uint32_t sum = sums + static_cast<std::uint32_t>(buffer.at * kTileN);
      for (int ks = 0; ks < k_steps; ++ks, ring.next()) {
        ptx::mbarrier_wait_parity(&full[ring.at], ring.parity);
        ptx::tcgen05_fence_after_thread_sync();
        const std::uint64_t a = ptx::advance(origin_a, ring.at * Tile::kBytesA);
        const std::uint64_t b = ptx::advance(origin_b, ring.at * Tile::kBytesB);
#pragma unroll
        for (int k = 0; k < Tile::kTileK / 16; ++k)
          ptx::tcgen05_mma_f16<kCtas>(sum, ptx::advance(a, k * 32), ptx::advance(b, k * 32),
                                      Tile::kInstruction, ks != 0 || k != 0);
        commit(&empty[ring.at]);
      }
      commit(&sum_full[buffer.at]);
    }
  } else if (warp >= 2) {
    const int quarter = warp % 4;
    const auto lane_address = static_cast<std::uint32_t>(quarter * 32) << 16;
    RingSm100<2> buffer;
    for (int index = first; index < tile_count; index += step, buffer.next()) {
      const TilePosition at = raster.at(index);
      ptx::mbarrier_wait_parity(&sum_full[buffer.at], buffer.parity);
      ptx::tcgen05_fence_after_thread_sync();
      const int row = at.m * Tile::kTileM + rank * Tile::kRows + quarter * 32 +
                      static_cast<int>(threadIdx.x % 32);
      store_rows_sm100<Tile>(d,
                             sums + lane_address + static_cast<std::uint32_t>(buffer.at * kTileN),
                             row, at.n * kTileN, m, n);
      ptx::tcgen05_fence_before_thread_sync();
      __syncwarp();
      if (threadIdx.x % 32 == 0) {
        if constexpr (kCtas == 1)
          ptx::mbarrier_arrive(&sum_empty[buffer.at]);
        else
          ptx::mbarrier_arrive_remote(&sum_empty[buffer.at], 0);
      }
    }
  }

  // Tensor memory is freed when all sums are taken; nobody leaves while a neighbour may still
  // signal its barriers.
  __syncwarp();
  ptx::tcgen05_fence_before_thread_sync();
  if constexpr (kCtas > 1) ptx::cluster_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  if (warp == 1) ptx::tcgen05_dealloc<kCtas>(sums, Tile::kColumns);
}

}  // namespace assay::kernels

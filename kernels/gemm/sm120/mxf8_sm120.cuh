// SPDX-License-Identifier: Apache-2.0
// Block-scaled GEMM for consumer Blackwell: D[m, n] = sum over k of A[m, k] * B[n, k], where every
// 32 elements of a row along k share a scale. A and B are e4m3, scales ue8m0, sums and D f32.
//
// Built, disassembled and run in the host model, not on silicon: there are no figures of it.
//
// Persistent CTAs of nine warps. The last one loads: boxes of A and B, 128 elements (one 128-byte
// swizzled row) deep along k, and the scales that belong to them, into a ring of kStages buffers.
// The other eight multiply, each its 64 x 32 of the tile, with ldmatrix and mma.sync, and store D
// from their registers.
//
// Scales lie as harness/ptx/descriptor/scale_layout.hpp says of memory: 128 rows x 4 blocks are 512
// bytes in one piece, which is just what a stage takes, and a row's four scales are one word.
// Padding of rows and blocks must be there, with any scale but NaN (0xff).
//
// The ring. full[s] ends a phase when all bytes of a stage have landed, empty[s] when all eight
// warps have read it. Stage and parity run on across tiles; producer and consumers step through the
// same sequence of tiles on their own.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "kernels/gemm/raster.hpp"

namespace assay::kernels {

// Everything that is fixed when the kernel is compiled.
template <int kStages_>
struct GemmTileSm120 {
  static constexpr int kTile = 128;   // rows and columns of D per CTA, as many as a tile of scales
  static constexpr int kTileK = 128;  // elements per stage: 128 bytes, one swizzle row
  static constexpr int kStages = kStages_;
  static constexpr int kWarpRows = 64, kWarpColumns = 32;  // of D, of one consumer warp
  static constexpr int kWarpsN = kTile / kWarpColumns;
  static constexpr int kConsumers = kTile / kWarpRows * kWarpsN;
  static constexpr int kThreads = 32 * (kConsumers + 1);

  static constexpr int kBytesOperand = kTile * kTileK;
  static constexpr int kBytesScales = kTile * kTileK / 32;
  static constexpr int kBytesStage = 2 * (kBytesOperand + kBytesScales);
  static constexpr int kSharedBytes =
      kStages * kBytesStage + 2 * kStages * static_cast<int>(sizeof(ptx::Mbarrier));
  static_assert(kSharedBytes <= 101376, "99 KiB of shared memory per CTA");
};

// What a consumer warp multiplies in one stage.
struct StageSm120 {
  std::uint32_t a, b;                   // addresses of this warp's rows of the swizzled boxes
  std::uint32_t scales_a[2], scales_b;  // for 32 rows of A each, and for 32 columns of B
};

// Step kStep of the stage's four along k. Lane l gives ldmatrix the address of one row of 16 bytes:
// of A rows l % 16, first or second half of the step's 32 bytes; of B rows l % 8 and 8 more from
// lane 16 on, the second half from lane 8 and 24 on.
template <int kStep>
__device__ void multiply_step(float (&d)[4][4][4], const StageSm120& s) {
  const std::uint32_t lane = threadIdx.x % 32;
  const auto at = [](std::uint32_t origin, std::uint32_t row, std::uint32_t chunk) {
    return origin + row * 128 + ((chunk ^ row % 8) * 16);
  };
  std::uint32_t b[4][2];
#pragma unroll
  for (int pair = 0; pair < 2; ++pair) {
    std::uint32_t r[4];
    ptx::ldmatrix_x4(r, at(s.b, 16 * pair + lane / 16 * 8 + lane % 8, 2 * kStep + lane / 8 % 2));
    b[2 * pair][0] = r[0];
    b[2 * pair][1] = r[1];
    b[2 * pair + 1][0] = r[2];
    b[2 * pair + 1][1] = r[3];
  }
#pragma unroll
  for (int pair = 0; pair < 2; ++pair) {
    const auto row_of_blocks = [&]<int kHalf>(float(&to)[4][4]) {
      std::uint32_t a[4];
      ptx::ldmatrix_x4(a, at(s.a, 32 * pair + 16 * kHalf + lane % 16, 2 * kStep + lane / 16));
      ptx::mma_mxf8_e4m3<kStep, kHalf, 0>(to[0], a, b[0], s.scales_a[pair], s.scales_b);
      ptx::mma_mxf8_e4m3<kStep, kHalf, 1>(to[1], a, b[1], s.scales_a[pair], s.scales_b);
      ptx::mma_mxf8_e4m3<kStep, kHalf, 2>(to[2], a, b[2], s.scales_a[pair], s.scales_b);
      ptx::mma_mxf8_e4m3<kStep, kHalf, 3>(to[3], a, b[3], s.scales_a[pair], s.scales_b);
    };
    row_of_blocks.template operator()<0>(d[2 * pair]);
    row_of_blocks.template operator()<1>(d[2 * pair + 1]);
  }
}

// A lane's accumulators, to where they lie inside of D. n is even.
__device__ inline void store_sm120(float* d, const float (&sums)[4][4][4], int row, int column,
                                   int m, int n) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = row + 16 * i + 8 * half, c = column + 8 * j;
        if (r < m && c < n)
          *reinterpret_cast<float2*>(d + static_cast<std::int64_t>(r) * n + c) =
              make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
      }
}

// m, n: of D; n is even, k a multiple of 16. Scales as above, from 16-byte aligned addresses on.
template <int kStages>
__global__ void __launch_bounds__(288, 1)
    gemm_mxf8_nt_sm120(const __grid_constant__ CUtensorMap map_a,
                       const __grid_constant__ CUtensorMap map_b, const std::uint8_t* scales_a,
                       const std::uint8_t* scales_b, float* d, const int m, const int n,
                       const int k_steps, const Raster raster) {
  using Tile = GemmTileSm120<kStages>;
  static_assert(Tile::kThreads == 288);
  extern __shared__ __align__(1024) std::uint8_t shared[];
  std::uint8_t* const stages_a = shared;
  std::uint8_t* const stages_b = stages_a + Tile::kStages * Tile::kBytesOperand;
  std::uint8_t* const stages_sa = stages_b + Tile::kStages * Tile::kBytesOperand;
  std::uint8_t* const stages_sb = stages_sa + Tile::kStages * Tile::kBytesScales;
  auto* const full =
      reinterpret_cast<ptx::Mbarrier*>(stages_sb + Tile::kStages * Tile::kBytesScales);
  ptx::Mbarrier* const empty = full + Tile::kStages;

  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], Tile::kConsumers);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();

  int stage = 0;
  std::uint32_t parity = 0;
  const auto next_stage = [&] {
    if (++stage == Tile::kStages) {
      stage = 0;
      parity ^= 1;
    }
  };
  const int first = static_cast<int>(blockIdx.x), step = static_cast<int>(gridDim.x);

  if (warp == Tile::kConsumers) {
    if (!ptx::elect_one()) return;
    ptx::tma_prefetch_map(&map_a);
    ptx::tma_prefetch_map(&map_b);
    for (int index = first; index < raster.count(); index += step) {
      const TilePosition at = raster.at(index);
      for (int ks = 0; ks < k_steps; ++ks) {
        ptx::mbarrier_wait_parity(&empty[stage], parity ^ 1);
        ptx::mbarrier_arrive_expect_tx(&full[stage], Tile::kBytesStage);
        ptx::tma_load_2d(stages_a + stage * Tile::kBytesOperand, &map_a, &full[stage],
                         ks * Tile::kTileK, at.m * Tile::kTile);
        ptx::tma_load_2d(stages_b + stage * Tile::kBytesOperand, &map_b, &full[stage],
                         ks * Tile::kTileK, at.n * Tile::kTile);
        const auto tile_of_scales = [&](int tile) {
          return (static_cast<std::int64_t>(tile) * k_steps + ks) * Tile::kBytesScales;
        };
        ptx::bulk_load(stages_sa + stage * Tile::kBytesScales, scales_a + tile_of_scales(at.m),
                       Tile::kBytesScales, &full[stage]);
        ptx::bulk_load(stages_sb + stage * Tile::kBytesScales, scales_b + tile_of_scales(at.n),
                       Tile::kBytesScales, &full[stage]);
        next_stage();
      }
    }
    return;
  }

  const int lane = threadIdx.x % 32, quad = lane / 4, member = lane % 4;
  const int row = warp / Tile::kWarpsN * Tile::kWarpRows;
  const int column = warp % Tile::kWarpsN * Tile::kWarpColumns;
  // Of 32 rows of A a quad's lanes hold the scales of rows quad, + 8, + 16 and + 24: blocks of 16
  // rows take them from lanes 0 and 1 and from 2 and 3. Of 32 columns of B likewise: blocks of 8
  // take them from one lane each. Rows 32 apart are four bytes apart in a tile of scales.
  const int of_scales = (quad + 8 * member) * 16;

  for (int index = first; index < raster.count(); index += step) {
    float sums[4][4][4] = {};
    for (int ks = 0; ks < k_steps; ++ks) {
      ptx::mbarrier_wait_parity(&full[stage], parity);
      const auto scales = [&](const std::uint8_t* stages, int rows) {
        return *reinterpret_cast<const std::uint32_t*>(stages + stage * Tile::kBytesScales +
                                                       of_scales + rows / 32 * 4);
      };
      const StageSm120 now{
          .a = ptx::shared_address(stages_a + stage * Tile::kBytesOperand) + row * 128,
          .b = ptx::shared_address(stages_b + stage * Tile::kBytesOperand) + column * 128,
          .scales_a = {scales(stages_sa, row), scales(stages_sa, row + 32)},
          .scales_b = scales(stages_sb, column)};
      multiply_step<0>(sums, now);
      multiply_step<1>(sums, now);
      multiply_step<2>(sums, now);
      multiply_step<3>(sums, now);
      // Each lane's ordinary reads come before the copies that write this stage next.
      ptx::fence_proxy_async_shared();
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(&empty[stage]);
      next_stage();
    }
    const TilePosition at = raster.at(index);
    store_sm120(d, sums, at.m * Tile::kTile + row + quad, at.n * Tile::kTile + column + 2 * member,
                m, n);
  }
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The matrix product for every target from sm_89 on, by mma.sync: plain and right where no path
// made for the architecture is there. It is no match for those: mma.sync reaches two thirds of
// wgmma's rate per clock on Hopper (fp8: less than a tenth; results/h200/2026-11-22-complete), and
// each warp loads and multiplies in turn.
//
// A CTA makes a tile of D, kTile x kTile, 64 bytes of each row deep along k at a time: 32 elements
// of 16 bits or 64 of 8. Each warp multiplies its part of the tile, 32 columns wide.
//
// Where tiles are few and k is long, the sum over k is made in parts by as many CTAs, and a second
// kernel adds them in a fixed order, so that the same inputs always give the same bits.
//
// The ring. Stages of A and B come by cp.async, kStages - 1 ahead. Before a stage is read every
// thread waits for its own copies of it, then all for each other; behind that barrier the stage
// read before is free, and the next copies go there. What lies outside of a matrix becomes zeros.
//
// Memory. An operand that is stored as rows along k has 64-byte rows in shared memory, one that is
// stored as rows across k ("t" of A, "n" of B; 16-bit only) has rows of kTile elements, which
// ldmatrix transposes. 16-byte chunks are XORed with the row, so that the eight rows that ldmatrix
// reads at once lie in different banks:
//   rows along k: eight rows are 512 bytes, four 128-byte lines of two rows each; chunk ^= row / 2
//   rows across k: each row is one or two lines; chunk ^= row, in the lowest three bits
#pragma once
#include <cstdint>

#include "harness/ptx/cp_async.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/shared_address.cuh"
#include "kernels/gemm/mma_sync/arguments.hpp"
#include "kernels/gemm/mma_sync/finish.cuh"
#include "kernels/gemm/raster.hpp"

namespace assay::kernels {

template <int kTile_>
struct GemmTileMmaSync {
  static constexpr int kTile = kTile_;
  static constexpr int kDepth = 64;  // bytes along k of a stage
  static constexpr int kStages = kTile == 128 ? 3 : 4;
  static constexpr int kWarpRows = kTile / 2, kWarpColumns = 32;
  static constexpr int kWarpsN = kTile / kWarpColumns;
  static constexpr int kThreads = 32 * 2 * kWarpsN;
  static constexpr int kBytes = kTile * kDepth;  // of an operand's stage
  static constexpr int kSharedBytes = kStages * 2 * kBytes;
  static_assert(kSharedBytes <= 48 * 1024, "what every kernel has without asking");
};

// The 16-byte chunk `chunk` of row `row` in a stage.
template <bool kAlongK, int kTile>
__device__ std::uint32_t chunk_offset(int row, int chunk) {
  if constexpr (kAlongK)
    return static_cast<std::uint32_t>(row * 64 + ((chunk ^ (row / 2 % 4)) * 16));
  else
    return static_cast<std::uint32_t>(row * kTile * 2 + ((chunk ^ (row % 8)) * 16));
}

// This thread's share of a stage: `tile` is where the tile begins across k, `depth` where the stage
// begins along k; both in elements, or in bytes where rows go that way.
template <bool kAlongK, int kTile>
__device__ void load_stage(std::uint8_t* stage, const MmaSyncOperand& from, int tile, int depth) {
  using Tile = GemmTileMmaSync<kTile>;
  constexpr int kPerRow = kAlongK ? Tile::kDepth / 16 : kTile * 2 / 16;
  constexpr int kChunks = Tile::kBytes / 16;
  static_assert(kChunks % Tile::kThreads == 0);
  const int first_row = kAlongK ? tile : depth, first_byte = kAlongK ? depth : tile;
#pragma unroll
  for (int i = 0; i < kChunks / Tile::kThreads; ++i) {
    const int index = i * Tile::kThreads + static_cast<int>(threadIdx.x);
    const int row = index / kPerRow, chunk = index % kPerRow;
    // Rows hold whole chunks, so that one is inside of the matrix or outside of it.
    const bool inside = row < from.rows - first_row && chunk * 16 < from.bytes - first_byte;
    const std::uint8_t* const source =
        inside
            ? from.data + (first_row + std::int64_t{row}) * from.row_bytes + first_byte + chunk * 16
            : from.data;
    ptx::cp_async_filled<16>(stage + chunk_offset<kAlongK, kTile>(row, chunk), source,
                             inside ? 16 : 0);
  }
}

// 16 rows of A from `row` on, 32 bytes deep: step 0 or 1 of the stage.
template <bool kAlongK, int kTile>
__device__ void load_a(std::uint32_t (&a)[4], std::uint32_t stage, int row, int step) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (kAlongK)
    ptx::ldmatrix_x4(a, stage + chunk_offset<true, kTile>(row + lane % 16, 2 * step + lane / 16));
  else
    ptx::ldmatrix_x4_trans(a,
                           stage + chunk_offset<false, kTile>(16 * step + lane / 16 * 8 + lane % 8,
                                                              row / 8 + lane / 8 % 2));
}

// 16 columns of B, as two times 8.
template <bool kAlongK, int kTile>
__device__ void load_b(std::uint32_t (&b)[2][2], std::uint32_t stage, int column, int step) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t r[4];
  if constexpr (kAlongK)
    ptx::ldmatrix_x4(r, stage + chunk_offset<true, kTile>(column + lane / 16 * 8 + lane % 8,
                                                          2 * step + lane / 8 % 2));
  else
    ptx::ldmatrix_x4_trans(
        r, stage + chunk_offset<false, kTile>(16 * step + lane % 16, column / 8 + lane / 16));
  b[0][0] = r[0];
  b[0][1] = r[1];
  b[1][0] = r[2];
  b[1][1] = r[3];
}

template <int kTypeA, int kTypeB>
__device__ void multiply(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  if constexpr (kTypeA == kMmaBf16)
    ptx::mma_m16n8k16_bf16(d, a, b);
  else if constexpr (kTypeA == kMmaF16)
    ptx::mma_m16n8k16_f16(d, a, b);
  else if constexpr (kTypeA == kMmaE4m3 && kTypeB == kMmaE4m3)
    ptx::mma_m16n8k32_e4m3(d, a, b);
  else if constexpr (kTypeA == kMmaE4m3)
    ptx::mma_m16n8k32_e4m3_e5m2(d, a, b);
  else if constexpr (kTypeB == kMmaE4m3)
    ptx::mma_m16n8k32_e5m2_e4m3(d, a, b);
  else
    ptx::mma_m16n8k32_e5m2(d, a, b);
}

// A stage of this warp's part of the tile.
template <int kTypeA, int kTypeB, int kAlongA, int kAlongB, int kTile, int kBlocks>
__device__ void multiply_stage(float (&sums)[kBlocks][4][4], std::uint32_t stage_a,
                               std::uint32_t stage_b, int row, int column) {
#pragma unroll
  for (int step = 0; step < 2; ++step) {
    std::uint32_t b[2][2][2];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair)
      load_b<kAlongB != 0, kTile>(b[pair], stage_b, column + 16 * pair, step);
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      std::uint32_t a[4];
      load_a<kAlongA != 0, kTile>(a, stage_a, row + 16 * block, step);
#pragma unroll
      for (int j = 0; j < 4; ++j) multiply<kTypeA, kTypeB>(sums[block][j], a, b[j / 2][j % 2]);
    }
  }
}

// What becomes of two sums of a row: D, or what gemm_mma_sync_sum() makes D of.
__device__ inline void leave_pair(const MmaSyncFinish& finish, const MmaSyncSplit& split, int row,
                                  int column, int m, int n, float2 sum) {
  if (split.partial)
    *reinterpret_cast<float2*>(
        split.partial + (static_cast<std::int64_t>(blockIdx.y) * m + row) * n + column) = sum;
  else
    finish_pair(finish, row, column, n, sum);
}

// This warp's sums, 16 rows at a time by way of shared memory, so that rows are stored in whole
// sectors, and by one piece of code: the sums move up in their registers.
template <int kTile, int kBlocks>
__device__ void store_tile(std::uint8_t* shared, float (&sums)[kBlocks][4][4],
                           const MmaSyncFinish& finish, const MmaSyncSplit& split, int row,
                           int column, int m, int n) {
  constexpr int kPitch = 40;  // floats: quads of lanes store to different banks
  static_assert(GemmTileMmaSync<kTile>::kThreads / 32 * 16 * kPitch * 4 <=
                GemmTileMmaSync<kTile>::kSharedBytes);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  float* const box = reinterpret_cast<float*>(shared) + warp * 16 * kPitch;
#pragma unroll 1
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        *reinterpret_cast<float2*>(box + (8 * half + lane / 4) * kPitch + 8 * j + lane % 4 * 2) =
            make_float2(sums[0][j][2 * half], sums[0][j][2 * half + 1]);
    __syncwarp();
    const int c = column + lane % 16 * 2;
#pragma unroll 1
    for (int turn = 0; turn < 8; ++turn) {
      const int in_box = 2 * turn + lane / 16, r = row + 16 * block + in_box;
      if (r < m && c < n)
        leave_pair(finish, split, r, c, m, n,
                   *reinterpret_cast<const float2*>(box + in_box * kPitch + lane % 16 * 2));
    }
    __syncwarp();
#pragma unroll
    for (int next = 1; next < kBlocks; ++next)
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[next - 1][j][i] = sums[next][j][i];
  }
}

// kAlongA, kAlongB: 1 for rows along k. m, n: of D. all_stages: of the ring, over all of k.
template <int kTypeA, int kTypeB, int kAlongA, int kAlongB, int kTile>
__global__ void __launch_bounds__(GemmTileMmaSync<kTile>::kThreads)
    gemm_mma_sync(const MmaSyncOperand a, const MmaSyncOperand b, const MmaSyncFinish finish,
                  const MmaSyncSplit split, const int m, const int n, const int all_stages,
                  const Raster raster) {
  using Tile = GemmTileMmaSync<kTile>;
  constexpr int kBlocks = Tile::kWarpRows / 16;
  constexpr int kElementBytes = kTypeA == kMmaBf16 || kTypeA == kMmaF16 ? 2 : 1;
  extern __shared__ __align__(128) std::uint8_t shared[];
  std::uint8_t* const stages_a = shared;
  std::uint8_t* const stages_b = shared + Tile::kStages * Tile::kBytes;
  const TilePosition at = raster.at(static_cast<int>(blockIdx.x));
  const int tile_m = at.m * kTile, tile_n = at.n * kTile;

  const int first_stage = static_cast<int>(blockIdx.y) * split.each;
  const int stages = min(all_stages - first_stage, split.each);

  const auto load = [&](int of_mine) {
    const int slot = of_mine % Tile::kStages * Tile::kBytes;
    const int stage = first_stage + of_mine;
    // Along k a row advances by bytes, across k by rows of elements.
    constexpr int kRows = Tile::kDepth / kElementBytes;
    load_stage<kAlongA != 0, kTile>(stages_a + slot, a, kAlongA ? tile_m : tile_m * 2,
                                    kAlongA ? stage * Tile::kDepth : stage * kRows);
    load_stage<kAlongB != 0, kTile>(stages_b + slot, b, kAlongB ? tile_n : tile_n * 2,
                                    kAlongB ? stage * Tile::kDepth : stage * kRows);
  };
#pragma unroll
  for (int stage = 0; stage < Tile::kStages - 1; ++stage) {
    if (stage < stages) load(stage);
    ptx::cp_async_commit();
  }

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp / Tile::kWarpsN * Tile::kWarpRows;
  const int column = warp % Tile::kWarpsN * Tile::kWarpColumns;
  float sums[kBlocks][4][4] = {};
#pragma unroll 1
  for (int stage = 0; stage < stages; ++stage) {
    ptx::cp_async_wait<Tile::kStages - 2>();
    __syncthreads();
    if (stage + Tile::kStages - 1 < stages) load(stage + Tile::kStages - 1);
    ptx::cp_async_commit();  // an empty group too, so that the wait above counts stages
    const int slot = stage % Tile::kStages * Tile::kBytes;
    multiply_stage<kTypeA, kTypeB, kAlongA, kAlongB, kTile>(
        sums, ptx::shared_address(stages_a + slot), ptx::shared_address(stages_b + slot), row,
        column);
  }

  __syncthreads();  // all have read the last stage, whose place the sums take
  store_tile<kTile>(shared, sums, finish, split, tile_m + row, tile_n + column, m, n);
}

// Adds the parts of a sum, in their order, and finishes. Of each type of A there is one, beside the
// kernel that leaves the parts.
template <int kTypeA>
__global__ void __launch_bounds__(256)
    gemm_mma_sync_sum(const float* partial, const int parts, const MmaSyncFinish finish,
                      const int m, const int n) {
  const std::int64_t count = static_cast<std::int64_t>(m) * n;
  for (int row = static_cast<int>(blockIdx.y); row < m; row += static_cast<int>(gridDim.y))
    for (int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 2; column < n;
         column += static_cast<int>(gridDim.x * blockDim.x) * 2) {
      const float* from = partial + static_cast<std::int64_t>(row) * n + column;
      float2 sum = make_float2(0, 0);
      for (int part = 0; part < parts; ++part, from += count) {
        const float2 more = *reinterpret_cast<const float2*>(from);
        sum = make_float2(sum.x + more.x, sum.y + more.y);
      }
      finish_pair(finish, row, column, n, sum);
    }
}

}  // namespace assay::kernels

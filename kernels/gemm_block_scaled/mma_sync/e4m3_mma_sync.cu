// SPDX-License-Identifier: Apache-2.0
// The plain block-scaled product, for every GPU with fp8: mma.sync and cp.async. It is here to be
// right where there is no path of the architecture's own; it is not fast.
//
// Tiles of 64 x 64, four warps of 32 x 32. Two buffers of one block of 128 along k take turns: one
// is multiplied while the next arrives. Rows of 128 bytes lie under the XOR swizzle that TMA has,
// which puts the eight rows that ldmatrix reads at once into different banks.
#include <cuda_bf16.h>

#include <cstdint>

#include "harness/ptx/cp_async.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/shared_address.cuh"
#include "kernels/gemm_block_scaled/mma_sync/arguments.hpp"

namespace assay::kernels {
namespace {

constexpr int kTile = kBlockScaledPlainTile, kThreads = kBlockScaledPlainThreads;
constexpr int kBlock = 128;  // along k: elements, bytes, and what a scale belongs to
constexpr int kBytes = kTile * kBlock;

// 64 rows from `first` on of a matrix [rows, k], from column `at`; zeros outside of it.
__device__ void copy_rows(std::uint8_t* to, const std::uint8_t* from, int first, int rows, int k,
                          int at) {
#pragma unroll
  for (int i = 0; i < kBytes / 16 / kThreads; ++i) {
    const int piece = i * kThreads + static_cast<int>(threadIdx.x), row = piece / 8;
    const int chunk = piece % 8, column = at + chunk * 16;
    const bool inside = first + row < rows && column < k;
    const std::int64_t offset = inside ? std::int64_t{first + row} * k + column : 0;
    ptx::cp_async_filled<16>(to + row * kBlock + (chunk ^ row % 8) * 16, from + offset,
                             inside ? 16 : 0);
  }
}

}  // namespace

__global__ void __launch_bounds__(kThreads)
    gemm_e4m3_block_scaled_plain(const BlockScaledPlainArguments args) {
  __shared__ alignas(128) std::uint8_t shared_a[2][kBytes], shared_b[2][kBytes];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int tiles_m = (args.m + kTile - 1) / kTile;
  const int first_row = static_cast<int>(blockIdx.x) % tiles_m * kTile;
  const int first_column = static_cast<int>(blockIdx.x) / tiles_m * kTile;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  const int blocks = (args.k + kBlock - 1) / kBlock;
  const auto load = [&](int block) {
    copy_rows(shared_a[block % 2], static_cast<const std::uint8_t*>(args.a), first_row, args.m,
              args.k, block * kBlock);
    copy_rows(shared_b[block % 2], static_cast<const std::uint8_t*>(args.b), first_column, args.n,
              args.k, block * kBlock);
  };
  // ldmatrix: lane l gives the address of row l % 8 of matrix l / 8. Of A rows 0-7, 8-15 of the
  // first 16 bytes, then of the second; of B columns 0-7 of both, then columns 8-15.
  const auto address = [&](const std::uint8_t* buffer, int row, int chunk) {
    return ptx::shared_address(buffer) +
           static_cast<std::uint32_t>(row * kBlock + (chunk ^ row % 8) * 16);
  };

  float sum[2][4][4] = {};
  load(0);
  ptx::cp_async_commit();
  for (int block = 0; block < blocks; ++block) {
    if (block + 1 < blocks) load(block + 1);
    ptx::cp_async_commit();
    ptx::cp_async_wait<1>();
    __syncthreads();
    const std::uint8_t* const buffer_a = shared_a[block % 2];
    const std::uint8_t* const buffer_b = shared_b[block % 2];
    float part[2][4][4] = {};
#pragma unroll
    for (int step = 0; step < kBlock / 32; ++step) {
      std::uint32_t a[2][4], b[4][2];
#pragma unroll
      for (int i = 0; i < 2; ++i)
        ptx::ldmatrix_x4(a[i],
                         address(buffer_a, warp_row + i * 16 + lane % 16, step * 2 + lane / 16));
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        std::uint32_t two[4];
        ptx::ldmatrix_x4(two, address(buffer_b, warp_column + i * 16 + lane / 16 * 8 + lane % 8,
                                      step * 2 + lane / 8 % 2));
        b[2 * i][0] = two[0];
        b[2 * i][1] = two[1];
        b[2 * i + 1][0] = two[2];
        b[2 * i + 1][1] = two[3];
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) ptx::mma_m16n8k32_e4m3(part[i][j], a[i], b[j]);
    }
    const float scale_b =
        args.scale_b[std::int64_t{first_column / kBlock} * args.scale_b_stride + block];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = min(first_row + warp_row + i * 16 + lane / 4 + half * 8, args.m - 1);
        const float scale = args.scale_a[std::int64_t{block} * args.scale_a_stride + row] * scale_b;
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int side = 0; side < 2; ++side) {
            const int at = 2 * half + side;
            sum[i][j][at] = fmaf(scale, part[i][j][at], sum[i][j][at]);
          }
      }
    }
    __syncthreads();  // the buffer is the next but one block's
  }

#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + warp_row + i * 16 + lane / 4 + half * 8;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int column = first_column + warp_column + j * 8 + lane % 4 * 2;  // n is even
        if (row < args.m && column < args.n)
          *reinterpret_cast<__nv_bfloat162*>(static_cast<__nv_bfloat16*>(args.d) +
                                             std::int64_t{row} * args.n + column) =
              __floats2bfloat162_rn(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
      }
    }
  }
}

const void* block_scaled_plain_kernel() {
  return reinterpret_cast<const void*>(&gemm_e4m3_block_scaled_plain);
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// How accumulators of the Hopper matrix product become D.
//
// A consumer warp holds 16 rows x kTileN columns of each of its 64-row blocks: accumulator 4 j + i
// of lane l is row l / 4 + 8 (i / 2), column 8 j + 2 (l % 4) + i % 2.
//
// The staged way takes factors and bias, rounds, and lets TMA write: it clips at D's edges. The
// general way does everything else, element by element, through shared memory in f32.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "harness/ptx/fence.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "kernels/gemm/sm90/arguments_sm90.hpp"

namespace assay::kernels {

template <bool kHalf>
__device__ inline std::uint32_t pack(float low, float high) {
  if constexpr (kHalf) {
    const __half2 pair = __floats2half2_rn(low, high);
    return reinterpret_cast<const std::uint32_t&>(pair);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const std::uint32_t&>(pair);
  }
}

__device__ inline float load_element(const void* data, std::int64_t index, OutputType type) {
  if (type == OutputType::bf16)
    return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[index]);
  if (type == OutputType::f16) return __half2float(static_cast<const __half*>(data)[index]);
  return static_cast<const float*>(data)[index];
}

// One of the eight elements of 16 bits that lie in `words`.
__device__ inline float element_of(const uint4& words, int i, OutputType type) {
  const std::uint32_t pair = i < 2 ? words.x : i < 4 ? words.y : i < 6 ? words.z : words.w;
  const auto bits = static_cast<std::uint16_t>(pair >> (16 * (i % 2)));
  return type == OutputType::bf16 ? __bfloat162float(__ushort_as_bfloat16(bits))
                                  : __half2float(__ushort_as_half(bits));
}

__device__ inline float activate(float x, int activation) {
  if (activation == 1) return 0.5f * x * (1 + erff(x * 0.70710678118654752f));
  if (activation == 2) return __fdividef(x, 1 + __expf(-x));
  return x;
}

// The factor that all results have in common.
__device__ inline float common_factor(const GemmArgumentsSm90& args) {
  float factor = args.alpha;
  if (args.tensor_scale_p) factor *= *args.tensor_scale_p;
  if (args.tensor_scale_q) factor *= *args.tensor_scale_q;
  return factor;
}

// Multiplies a block by its factors and adds the bias, for the staged way. `row` and `column` are
// the warp's first ones in R.
template <class Tile>
__device__ void scale_block(float (&d)[Tile::kTileN / 2], const GemmArgumentsSm90& args,
                            float factor, int row, int column) {
  const int lane = threadIdx.x % 32;
  float of_row[2] = {factor, factor}, row_bias[2] = {0, 0};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int r = row + lane / 4 + 8 * half;
    if (r < args.rows) {
      if (args.row_scale) of_row[half] *= args.row_scale[r];
      if (args.row_bias) row_bias[half] = load_element(args.row_bias, r, args.type);
    }
  }
  if (!args.column_scale && !args.column_bias) {
    if (factor == 1 && !args.row_scale && !args.row_bias) return;
#pragma unroll
    for (int at = 0; at < Tile::kTileN / 2; ++at)
      d[at] = fmaf(d[at], of_row[at / 2 % 2], row_bias[at / 2 % 2]);
    return;
  }
#pragma unroll
  for (int j = 0; j < Tile::kTileN / 8; ++j) {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const int c = column + 8 * j + 2 * (lane % 4) + side;
      float of_column = 1, column_bias = 0;
      if (c < args.columns) {
        if (args.column_scale) of_column = args.column_scale[c];
        if (args.column_bias) column_bias = load_element(args.column_bias, c, args.type);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float& value = d[4 * j + 2 * half + side];
        value = fmaf(value, of_row[half] * of_column, row_bias[half] + column_bias);
      }
    }
  }
}

// Rounds a block: word i holds accumulators 2 i and 2 i + 1.
template <class Tile>
__device__ void pack_block(std::uint32_t (&packed)[Tile::kTileN / 4],
                           const float (&d)[Tile::kTileN / 2]) {
#pragma unroll
  for (int i = 0; i < Tile::kTileN / 4; ++i) packed[i] = pack<Tile::kHalf>(d[2 * i], d[2 * i + 1]);
}

// Writes a warp's part of a rounded block through its two buffers.
//
// stmatrix takes four 8 x 8 matrices; lane l gives the address of one row of 16 bytes of matrix
// l / 8. Rows of a buffer are kStoreColumns wide, under the swizzle of that width, which puts the
// eight rows of a matrix into different banks. A swapped variant's buffers hold the transpose: rows
// of 16 elements, one for each of its columns.
//
// Clipped stores do not write D's rows from `end` on, though they are inside of D. The map has D's
// rows twice for that, as dimension 1 of as many rows as a box has, and as dimension 2 of all, with
// the same stride, and begins one box before D. What lies beyond dimension 1's end is not written:
// of a box whose last rows are to stay, it is moved there, and dimension 2 goes back by as much.
template <class Tile, bool kClipped>
__device__ void store_block(const CUtensorMap* map, const std::uint32_t (&packed)[Tile::kTileN / 4],
                            std::uint8_t* buffers, int& next_buffer, int row, int column, int end) {
  const std::uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
    const int begin = Tile::chunk_begin(chunk);
    std::uint8_t* buffer = buffers + next_buffer * Tile::kBytesStore;
    next_buffer ^= 1;
    // The store before the last one used this buffer.
    if (lane == 0) ptx::bulk_wait_read<1>();
    __syncwarp();
    const std::uint32_t base = ptx::shared_address(buffer);
#pragma unroll
    for (int j = 0; j < Tile::kStoreColumns / 16; ++j) {
      std::uint32_t four[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) four[i] = packed[begin / 4 + j * 4 + i];
      if constexpr (Tile::kSwapped) {
        // Matrices 0 and 1 are rows 0-7 and 8-15 of column group 2 j, 2 and 3 of group 2 j + 1.
        const std::uint32_t buffer_row = (2 * j + lane / 16) * 8 + lane % 8;
        ptx::stmatrix_x4_transposed(base + buffer_row * 32 + lane / 8 % 2 * 16, four);
      } else {
        constexpr std::uint32_t kRowBytes = Tile::kStoreColumns <= 16   ? 32
                                            : Tile::kStoreColumns <= 32 ? 64
                                                                        : 128;
        const std::uint32_t buffer_row = lane % 16, group = 2 * j + lane / 16;
        const std::uint32_t swizzle = buffer_row * kRowBytes / 128 % (kRowBytes / 16);
        ptx::stmatrix_x4(base + buffer_row * kRowBytes + (group ^ swizzle) * 16, four);
      }
    }
    ptx::fence_proxy_async_shared();
    __syncwarp();
    if (lane == 0) {
      // As D has them.
      const int d_row = Tile::kSwapped ? column + begin : row;
      const int d_column = Tile::kSwapped ? row : column + begin;
      if constexpr (kClipped) {
        constexpr int kRows = Tile::kSwapped ? Tile::kStoreColumns : 16;
        const int written = min(max(end - d_row, 0), kRows);
        ptx::tma_store_3d(map, buffer, d_column, kRows - written, d_row + written);
      } else {
        ptx::tma_store_2d(map, buffer, d_column, d_row);
      }
      ptx::bulk_commit();
    }
  }
}

// The general way: f32 to the warp's buffers, both as one, and from there groups of eight
// neighbours of D's rows at a time, which either all lie in D or none. n is a multiple of eight.
template <class Tile>
__device__ void store_general(const GemmArgumentsSm90& args, const float (&d)[Tile::kTileN / 2],
                              float* buffer, float factor, int row, int column) {
  constexpr int kColumns = Tile::kStoreColumns;
  const int lane = threadIdx.x % 32;
  const int n = Tile::kSwapped ? args.rows : args.columns;
#pragma unroll
  for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
    const int begin = Tile::chunk_begin(chunk);
    __syncwarp();
#pragma unroll
    for (int at = 0; at < kColumns / 2; ++at) {
      const int r = lane / 4 + 8 * (at / 2 % 2), c = at / 4 * 8 + 2 * (lane % 4) + at % 2;
      const int place = Tile::kSwapped ? c * 16 + r : r * kColumns + (c ^ r % 8 * 8 % kColumns);
      buffer[place] = d[begin / 2 + at];
    }
    __syncwarp();
    const int first_column = column + begin;
#pragma unroll 1
    for (int group = lane; group < 16 * kColumns / 8; group += 32) {
      // The group's eight elements of D: (at_m, at_n) and its right neighbours.
      int at_m, at_n, place;
      if constexpr (Tile::kSwapped) {
        at_m = first_column + group / 2;
        at_n = row + group % 2 * 8;
        place = group * 8;
      } else {
        const int r = group / (kColumns / 8), c = group % (kColumns / 8) * 8;
        at_m = row + r;
        at_n = first_column + c;
        place = r * kColumns + (c ^ r % 8 * 8 % kColumns);
      }
      const int at_row = Tile::kSwapped ? at_n : at_m, at_column = Tile::kSwapped ? at_m : at_n;
      if (at_row >= args.rows || at_column >= args.columns) continue;
      const std::int64_t index = std::int64_t{at_m} * n + at_n;
      // C by 16 bytes at once where it is of 16 bits (n, and so `index`, is a multiple of eight),
      // but in the tiles whose sums leave no register for that.
      constexpr bool kWide = Tile::kBlocks * Tile::kTileN / 2 < 176;
      const bool wide = kWide && args.c && args.type != OutputType::f32;
      uint4 c = {};
      if (wide)
        c = *reinterpret_cast<const uint4*>(static_cast<const std::uint16_t*>(args.c) + index);
      float value[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int r = Tile::kSwapped ? at_row + i : at_row;
        const int column_of_r = Tile::kSwapped ? at_column : at_column + i;
        float x = buffer[place + i] * factor;
        if (args.row_scale) x *= args.row_scale[r];
        if (args.column_scale) x *= args.column_scale[column_of_r];
        if (wide) {
          x = fmaf(args.beta, element_of(c, i, args.type), x);
        } else if (args.c) {
          x = fmaf(args.beta, load_element(args.c, index + i, args.type), x);
        }
        if (args.row_bias) x += load_element(args.row_bias, r, args.type);
        if (args.column_bias) x += load_element(args.column_bias, column_of_r, args.type);
        value[i] = activate(x, args.activation);
      }
      if (args.type == OutputType::f32) {
        auto* out = reinterpret_cast<float4*>(static_cast<float*>(args.d) + index);
        out[0] = {value[0], value[1], value[2], value[3]};
        out[1] = {value[4], value[5], value[6], value[7]};
      } else {
        const bool half = args.type == OutputType::f16;
        std::uint32_t packed[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          packed[i] = half ? pack<true>(value[2 * i], value[2 * i + 1])
                           : pack<false>(value[2 * i], value[2 * i + 1]);
        }
        *reinterpret_cast<uint4*>(static_cast<std::uint16_t*>(args.d) + index) = {
            packed[0], packed[1], packed[2], packed[3]};
      }
    }
  }
}

}  // namespace assay::kernels

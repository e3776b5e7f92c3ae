// SPDX-License-Identifier: Apache-2.0
// How accumulators of the Hopper matrix product become D.
//
// A consumer warp holds 16 rows x kTileN columns of each of its 64-row blocks: accumulator 4 j + i
// of lane l is row l / 4 + 8 (i / 2), column 8 j + 2 (l % 4) + i % 2. Factors, bias, C and
// activation are applied to them there, in f32. Then they are rounded and put into shared memory,
// and TMA writes them: it clips at D's edges. Only f32 results go to D straight from registers.
//
// An element's column is known when this is compiled, but for the lane. So a warp has the factors
// and the bias of 64 columns in two registers each, two columns a lane, and a shuffle brings them
// where they are needed. They are loaded while the last MMAs are under way.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "harness/ptx/fence.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "kernels/gemm/activation.cuh"
#include "kernels/gemm/sm90/arguments_sm90.hpp"

namespace assay::kernels {

// The factor that all results have in common.
__device__ inline float common_factor(const GemmArgumentsSm90& args) {
  float factor = args.alpha;
  if (args.tensor_scale_p) factor *= *args.tensor_scale_p;
  if (args.tensor_scale_q) factor *= *args.tensor_scale_q;
  return factor;
}

// Two values of 16 bits.
__device__ inline float2 unpack(std::uint32_t pair, bool half) {
  if (half) return __half22float2(reinterpret_cast<const __half2&>(pair));
  return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(pair));
}

__device__ inline float load_element(const void* data, std::int64_t index, OutputType type) {
  if (type == OutputType::f32) return static_cast<const float*>(data)[index];
  return unpack(static_cast<const std::uint16_t*>(data)[index], type == OutputType::f16).x;
}

// A lane's rows of all blocks, and its two columns of each 64.
template <class Tile>
struct LinesSm90 {
  static constexpr int kParts = (Tile::kTileN + 63) / 64;
  static constexpr bool kScales = Tile::kElementBytes == 1;  // else there are no factors
  float row_scale[Tile::kBlocks][2];
  float column_scale[kParts][2];
  // Of D's columns, which are a swapped tile's rows.
  static constexpr int kBiases = Tile::kSwapped ? Tile::kBlocks : kParts;
  float bias[kBiases][2];
};

// Of a warp whose first block begins at (row, column) of R. Without kBias there is none.
template <class Tile, bool kBias = true>
__device__ LinesSm90<Tile> load_lines(const GemmArgumentsSm90& args, int row, int column) {
  using Lines = LinesSm90<Tile>;
  const int lane = threadIdx.x % 32;
  const int first_row = row + lane / 4, first_column = column + 2 * lane;
  Lines lines;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      const int r = first_row + 64 * block + 8 * i;
      lines.row_scale[block][i] =
          Lines::kScales && args.row_scale && r < args.rows ? args.row_scale[r] : 1;
    }
#pragma unroll
    for (int part = 0; part < Lines::kParts; ++part) {
      const int c = first_column + 64 * part + i;
      lines.column_scale[part][i] =
          Lines::kScales && args.column_scale && c < args.columns ? args.column_scale[c] : 1;
    }
#pragma unroll
    for (int at = 0; at < Lines::kBiases; ++at) {
      const int line = (Tile::kSwapped ? first_row + 8 * i : first_column + i) + 64 * at;
      const bool there = kBias && args.bias && line < (Tile::kSwapped ? args.rows : args.columns);
      lines.bias[at][i] = there ? load_element(args.bias, line, args.type) : 0;
    }
  }
  return lines;
}

// d * factor * scales + bias.
template <class Tile, bool kColumnScale, bool kColumnBias>
__device__ void scale_columns(float (&d)[Tile::kBlocks][Tile::kTileN / 2],
                              const LinesSm90<Tile>& lines, float factor) {
  float of_row[Tile::kBlocks][2];
#pragma unroll
  for (int block = 0; block < Tile::kBlocks; ++block) {
    of_row[block][0] = factor * lines.row_scale[block][0];
    of_row[block][1] = factor * lines.row_scale[block][1];
  }
#pragma unroll
  for (int at = 0; at < Tile::kTileN / 4; ++at) {  // column pairs 8 j + 2 (l % 4), a side each
    const int j = at / 2, side = at % 2, part = j / 8;
    const int from = j % 8 * 4 + threadIdx.x % 4;
    float scale = 1, bias = 0;
    if constexpr (kColumnScale)
      scale = __shfl_sync(0xffffffffu, lines.column_scale[part][side], from);
    if constexpr (kColumnBias) bias = __shfl_sync(0xffffffffu, lines.bias[part][side], from);
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float& value = d[block][4 * j + 2 * half + side];
        value = fmaf(value, of_row[block][half] * scale,
                     Tile::kSwapped ? lines.bias[block * Tile::kSwapped][half] : bias);
      }
    }
  }
}

template <class Tile, bool kBias = true>
__device__ void scale_tile(float (&d)[Tile::kBlocks][Tile::kTileN / 2],
                           const GemmArgumentsSm90& args, const LinesSm90<Tile>& lines,
                           float factor) {
  constexpr bool kScales = LinesSm90<Tile>::kScales;
  const bool bias = kBias && args.bias, column_bias = !Tile::kSwapped && bias;
  if (kScales && args.column_scale) {
    if (column_bias) {
      scale_columns<Tile, true, true>(d, lines, factor);
    } else {
      scale_columns<Tile, true, false>(d, lines, factor);
    }
  } else if (column_bias) {
    scale_columns<Tile, false, true>(d, lines, factor);
  } else if (factor != 1 || (kScales && args.row_scale) || bias) {
    scale_columns<Tile, false, false>(d, lines, factor);
  }
}

// Visits groups [begin, begin + kGroups) of eight columns of a warp's block. A lane's two
// neighbours in a row of R are so in D, too; those of a swapped tile are in a column of D. Calls
// f(count, accumulator, index in D, whether it is in D) for each such pair, or for each element of
// a swapped tile.
template <class Tile, int kGroups, class F>
__device__ void visit(const GemmArgumentsSm90& args, int row, int column, int begin, const F& f) {
  const int lane = threadIdx.x % 32;
  const int r = row + lane / 4, c = column + 8 * begin + 2 * (lane % 4);
  const bool rows_in[2] = {r < args.rows, r + 8 < args.rows};
  if constexpr (Tile::kSwapped) {
    std::int64_t index = std::int64_t{c} * args.rows + r;
    int left = args.columns - c;  // columns of R from this one on
#pragma unroll
    for (int at = 0; at < 2 * kGroups; ++at) {
      const int j = at / 2, side = at % 2;
#pragma unroll
      for (int half = 0; half < 2; ++half)
        f(2 * at + half, 4 * (begin + j) + 2 * half + side, index + 8 * half,
          rows_in[half] && left > 0);
      index += (side == 0 ? 1 : 7) * std::int64_t{args.rows};
      left -= side == 0 ? 1 : 7;
    }
  } else {
    const std::int64_t first = std::int64_t{r} * args.columns + c;
    const std::int64_t index[2] = {first, first + std::int64_t{8} * args.columns};
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        f(2 * j + half, 4 * (begin + j) + 2 * half, index[half] + 8 * j,
          rows_in[half] && c + 8 * j < args.columns);
    }
  }
}

// d + beta * C of kGroups groups, all loads at once.
template <class Tile, bool kWide, int kGroups>
__device__ void add_c_groups(float (&d)[Tile::kTileN / 2], const GemmArgumentsSm90& args, int row,
                             int column, int begin) {
  constexpr int kLoads = kGroups * (Tile::kSwapped ? 4 : 2);
  std::uint32_t words[kLoads][kWide && !Tile::kSwapped ? 2 : 1];
  visit<Tile, kGroups>(
      args, row, column, begin, [&](int load, int, std::int64_t index, bool inside) {
        const auto* const b16 = static_cast<const std::uint16_t*>(args.c) + index;
        if constexpr (kWide) {
          ptx::load_words_if(inside, words[load], static_cast<const float*>(args.c) + index);
        } else if constexpr (Tile::kSwapped) {
          words[load][0] = ptx::load_u16_if(inside, b16);
        } else {
          ptx::load_words_if(inside, words[load], b16);
        }
      });
  const auto add = [&](bool half) {
    visit<Tile, kGroups>(args, row, column, begin, [&](int load, int at, std::int64_t, bool) {
      const auto& w = words[load];
      constexpr int kSecond = Tile::kSwapped ? 0 : 1;
      const float2 c = kWide ? float2{__uint_as_float(w[0]), __uint_as_float(w[kSecond * kWide])}
                             : unpack(w[0], half);
      d[at] = fmaf(args.beta, c.x, d[at]);
      if constexpr (!Tile::kSwapped) d[at + 1] = fmaf(args.beta, c.y, d[at + 1]);
    });
  };
  if (!kWide && args.type == OutputType::f16) {
    add(true);
  } else {
    add(false);
  }
}

// d + beta * C: as many loads at once as there are registers for.
template <class Tile, bool kWide>
__device__ void add_c(float (&d)[Tile::kTileN / 2], const GemmArgumentsSm90& args, int row,
                      int column) {
  constexpr int kSums = Tile::kBlocks * Tile::kTileN / 2;
  constexpr int kRegisters = kSums <= 128 && !kWide                        ? 32
                             : kSums <= 160 || (!Tile::kSwapped && !kWide) ? 16
                                                                           : 8;
  constexpr int kEach = kRegisters / (Tile::kSwapped ? 4 : kWide ? 4 : 2);
  constexpr int kAll = Tile::kTileN / 8;
#pragma unroll
  for (int begin = 0; begin + kEach <= kAll; begin += kEach)
    add_c_groups<Tile, kWide, kEach>(d, args, row, column, begin);
  if constexpr (kAll % kEach != 0)
    add_c_groups<Tile, kWide, kAll % kEach>(d, args, row, column, kAll / kEach * kEach);
}

// A loop over registers, which have no index at run time, would move each of them on at each turn:
// that costs more than fetching code for every value does.
template <class Tile>
__device__ void activate(float (&d)[Tile::kBlocks][Tile::kTileN / 2], int activation) {
  const auto apply = [&](const auto& function) {
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
      for (int i = 0; i < Tile::kTileN / 2; ++i) d[block][i] = function(d[block][i]);
    }
  };
  if (activation == 1) {
    apply([](float x) { return gelu(x); });
  } else if (activation == 2) {
    apply([](float x) { return silu(x); });
  } else {
    apply([](float x) { return gelu_tanh(x); });
  }
}

// Writes a block in f32. Eight rows of 32 bytes at a time fill sectors of L2.
template <class Tile>
__device__ void store_f32(const GemmArgumentsSm90& args, const float (&d)[Tile::kTileN / 2],
                          int row, int column) {
  visit<Tile, Tile::kTileN / 8>(args, row, column, 0,
                                [&](int, int at, std::int64_t index, bool inside) {
                                  if (!inside) return;
                                  float* const to = static_cast<float*>(args.d) + index;
                                  if constexpr (Tile::kSwapped) {
                                    *to = d[at];
                                  } else {
                                    *reinterpret_cast<float2*>(to) = {d[at], d[at + 1]};
                                  }
                                });
}

__device__ inline std::uint32_t pack(float low, float high, bool half) {
  if (half) {
    const __half2 pair = __floats2half2_rn(low, high);
    return reinterpret_cast<const std::uint32_t&>(pair);
  }
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const std::uint32_t&>(pair);
}

// Rounds a block to f16 or bf16: word i holds accumulators 2 i and 2 i + 1.
template <class Tile>
__device__ void pack_block(std::uint32_t (&packed)[Tile::kTileN / 4],
                           const float (&d)[Tile::kTileN / 2], bool half) {
  const auto apply = [&](bool to_half) {
#pragma unroll
    for (int i = 0; i < Tile::kTileN / 4; ++i) packed[i] = pack(d[2 * i], d[2 * i + 1], to_half);
  };
  if (half) {
    apply(true);
  } else {
    apply(false);
  }
}

// Writes a warp's part of a rounded block through its two buffers; a swapped variant's warps have
// their warpgroup's in common, and wait for each other at `barrier`. `row` is the first of the
// kStoreRows rows that leave together. `sent` counts what has left so far.
//
// stmatrix takes four 8 x 8 matrices; lane l gives the address of one row of 16 bytes of matrix
// l / 8. Rows of a buffer are kStoreColumns wide, under the swizzle of that width, which puts the
// eight rows of a matrix into different banks. A swapped variant's buffers hold the transpose: rows
// of 64 elements, one for each of its columns, of which each warp writes 16.
//
// Clipped stores do not write D's rows from `end` on, though they are inside of D. The map has D's
// rows twice for that, as dimension 1 of as many rows as a box has, and as dimension 2 of all, with
// the same stride, and begins one box before D. What lies beyond dimension 1's end is not written:
// of a box whose last rows are to stay, it is moved there, and dimension 2 goes back by as much.
template <class Tile, bool kClipped>
__device__ void store_block(const CUtensorMap* map, const std::uint32_t (&packed)[Tile::kTileN / 4],
                            std::uint8_t* buffers, int& sent, int row, int column, int end,
                            int barrier) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t warp = threadIdx.x % 128 / 32;  // of the warpgroup
  const bool issues = lane == 0 && (!Tile::kSwapped || warp == 0);
  const auto together = [&] {
    if constexpr (Tile::kSwapped) {
      ptx::named_barrier_sync(barrier, 128);
    } else {
      __syncwarp();
    }
  };
#pragma unroll
  for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
    const int begin = Tile::chunk_begin(chunk);
    std::uint8_t* const buffer = buffers + sent % Tile::kStoreBuffers * Tile::kBytesStore;
    if (sent >= Tile::kStoreBuffers) {  // a store before used this buffer
      if (issues) ptx::bulk_wait_read<Tile::kStoreBuffers - 1>();
      together();
    }
    ++sent;
    const std::uint32_t base = ptx::shared_address(buffer);
#pragma unroll
    for (int j = 0; j < Tile::kStoreColumns / 16; ++j) {
      std::uint32_t four[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) four[i] = packed[begin / 4 + j * 4 + i];
      if constexpr (Tile::kSwapped) {
        // Matrices 0 and 1 are rows 0-7 and 8-15 of column group 2 j, 2 and 3 of group 2 j + 1.
        const std::uint32_t buffer_row = (2 * j + lane / 16) * 8 + lane % 8;
        const std::uint32_t group = 2 * warp + lane / 8 % 2;  // of eight rows
        ptx::stmatrix_x4_transposed(base + buffer_row * 128 + (group ^ lane % 8) * 16, four);
      } else {
        // Group 2 j + lane / 16 of the row, and 2 j changes bits of its own.
        constexpr std::uint32_t kRowBytes = Tile::kStoreColumns <= 16   ? 32
                                            : Tile::kStoreColumns <= 32 ? 64
                                                                        : 128;
        const std::uint32_t buffer_row = lane % 16;
        const std::uint32_t swizzle = buffer_row * kRowBytes / 128 % (kRowBytes / 16);
        const std::uint32_t first = base + buffer_row * kRowBytes + (lane / 16 ^ swizzle) * 16;
        ptx::stmatrix_x4(first ^ 32u * j, four);
      }
    }
    ptx::fence_proxy_async_shared();
    together();
    if (issues) {
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

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// How accumulators of the Hopper matrix product become D.
//
// A consumer warp holds 16 rows x kTileN columns of each of its 64-row blocks: accumulator 4 j + i
// of lane l is row l / 4 + 8 (i / 2), column 8 j + 2 (l % 4) + i % 2. Factors, bias, C and
// activation are applied to them there, in f32. C is in shared memory by then (c_sm90.cuh), and
// results leave by it (store_sm90.cuh).
//
// An element's column is known when this is compiled, but for the lane. So a warp has the factors
// and the bias of 64 columns in two registers each, two columns a lane, and a shuffle brings them
// where they are needed. They are loaded while the last MMAs are under way.
#pragma once
#include <cstdint>

#include "kernels/gemm/activation.cuh"
#include "kernels/gemm/sm90/arguments_sm90.hpp"
#include "kernels/gemm/sm90/pairs_sm90.cuh"

namespace assay::kernels {

// The factor that all results have in common. Arguments: of the product or of what adds its parts.
template <class Arguments>
__device__ float common_factor(const Arguments& args) {
  float factor = args.alpha;
  if (args.tensor_scale_p) factor *= *args.tensor_scale_p;
  if (args.tensor_scale_q) factor *= *args.tensor_scale_q;
  return factor;
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

// A loop over registers, which have no index at run time, would move each of them on at each turn:
// that costs more than fetching code for every value does.
template <class Tile>
__device__ void activate_tile(float (&d)[Tile::kBlocks][Tile::kTileN / 2], int activation) {
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

}  // namespace assay::kernels

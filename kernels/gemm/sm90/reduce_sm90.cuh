// SPDX-License-Identifier: Apache-2.0
// Adds the parts of sums that the Hopper product left, and makes D of them.
#pragma once
#include <cstdint>

#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/load_store.cuh"
#include "kernels/gemm/activation.cuh"
#include "kernels/gemm/sm90/arguments_sm90.hpp"
#include "kernels/gemm/sm90/epilogue_sm90.cuh"
#include "kernels/gemm/sm90/pairs_sm90.cuh"
#include "kernels/gemm/sm90/reduce_sm90.hpp"

namespace assay::kernels {

// What a sum becomes at an element of D, in the order of operations of the product that does not
// split its tiles.
__device__ inline float finished(const ReduceArgumentsSm90& args, float sum, float factor,
                                 std::int64_t element, int column) {
  const float bias = args.bias ? load_element(args.bias, column, args.type) : 0;
  float value = fmaf(sum, factor, bias);
  if (args.c) value = fmaf(args.beta, load_element(args.c, element, args.type), value);
  return activated(value, args.activation);
}

// A CTA's threads are 128 for each reducer, and a sum's first reducer makes D of it. The order of
// additions is that of the parts, each reducer's in turn, whatever the GPU. What the template
// arguments are does not matter to it: each file of forms has a kernel of its own name, so that the
// host model finds it beside them.
template <int kTypes, int kMajorA, int kMajorB>
__global__ void __launch_bounds__(128 * kMostReducersSm90)
    gemm_reduce_sm90(const __grid_constant__ ReduceArgumentsSm90 args) {
  __shared__ float4 sums[kMostReducersSm90 - 1][128];
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const int reducer = static_cast<int>(threadIdx.x) / 128;
  const int reducers = static_cast<int>(blockDim.x) / 128;
  const int all_pieces = static_cast<int>(blockIdx.x);
  const int slot = args.pieces.quotient(all_pieces);
  const int piece = args.pieces.rest(all_pieces, slot);
  const int tile = args.cluster.quotient(slot), rank = args.cluster.rest(slot, tile);
  const int block = args.groups.quotient(piece), group = args.groups.rest(piece, block);
  ptx::launch_dependents();
  ptx::wait_for_dependencies();

  // Part p of a tile is what the CTA of this rank of cluster p * tiles + tile left: pieces of all
  // tiles lie one after the other, and parts of all pieces.
  constexpr int kTogether = kPartsTogetherSm90;
  const std::int64_t per_part = std::int64_t{static_cast<int>(gridDim.x)} * 128;
  const uint4* const from =
      reinterpret_cast<const uint4*>(args.partials) + std::int64_t{all_pieces} * 128 + thread;
  float4 sum = {};
  for (int first = reducer; first < args.parts; first += kTogether * reducers) {
    uint4 more[kTogether] = {};
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int part = first + i * reducers;
      if (part < args.parts) more[i] = ptx::load_v4_l2(from + part * per_part);
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      sum.x += __uint_as_float(more[i].x);
      sum.y += __uint_as_float(more[i].y);
      sum.z += __uint_as_float(more[i].z);
      sum.w += __uint_as_float(more[i].w);
    }
  }
  if (reducers > 1) {
    if (reducer > 0) sums[reducer - 1][thread] = sum;
    __syncthreads();
    if (reducer > 0) return;
    for (int other = 0; other < reducers - 1; ++other) {
      const float4 more = sums[other][thread];
      sum.x += more.x;
      sum.y += more.y;
      sum.z += more.z;
      sum.w += more.w;
    }
  }

  const float common = args.plain ? 1 : common_factor(args);
  const int lane = thread % 32;
  const TilePosition at = args.raster.at(tile);
  const int rank_m = args.cluster_n.quotient(rank), rank_n = args.cluster_n.rest(rank, rank_m);
  const int row =
      ((at.m * args.cluster_m + rank_m) * args.blocks + block) * 64 + thread / 32 * 16 + lane / 4;
  const int column =
      ((at.n * args.cluster_n.number() + rank_n) * args.groups.number() + group) * 8 + lane % 4 * 2;
#pragma unroll
  for (int lower = 0; lower < 2; ++lower) {
    const int r = row + 8 * lower;
    if (r >= args.rows) continue;
    float values[2] = {lower == 0 ? sum.x : sum.z, lower == 0 ? sum.y : sum.w};
    // An element of a swapped tile, or both of another: rows of D begin on 16 bytes, so that their
    // pairs are whole.
    const int many = args.swapped ? min(args.columns - column, 2) : column < args.columns ? 2 : 0;
    const std::int64_t first = args.swapped ? std::int64_t{column} * args.rows + r
                                            : std::int64_t{r} * args.columns + column;
    const std::int64_t next = args.swapped ? args.rows : 1;
    const float of_row = args.row_scale ? common * args.row_scale[r] : common;
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (side >= many) break;
      const int d_column = args.swapped ? r : column + side;
      if (!args.plain) {
        const float scale = args.column_scale ? args.column_scale[column + side] : 1;
        values[side] = finished(args, values[side], of_row * scale, first + side * next, d_column);
      }
      if (args.type == OutputType::f32)
        static_cast<float*>(args.d)[first + side * next] = values[side];
    }
    if (args.type == OutputType::f32 || many < 1) continue;
    auto* const d = static_cast<std::uint16_t*>(args.d) + first;
    const std::uint32_t pair = pack(values[0], values[1], args.type == OutputType::f16);
    if (!args.swapped) {
      *reinterpret_cast<std::uint32_t*>(d) = pair;
    } else {
      d[0] = static_cast<std::uint16_t>(pair);
      if (many == 2) d[next] = static_cast<std::uint16_t>(pair >> 16);
    }
  }
}

}  // namespace assay::kernels

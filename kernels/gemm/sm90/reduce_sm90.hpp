// SPDX-License-Identifier: Apache-2.0
// The kernel that adds the parts of sums which the Hopper product leaves where it splits tiles
// (GemmSchedule::parts), and makes D of them.
#pragma once
#include <algorithm>

#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/divisor.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm/sm90/arguments_sm90.hpp"

namespace assay::kernels {

struct ReduceArgumentsSm90 {
  PreparedRaster raster;  // of the product
  int parts;              // of each tile
  int blocks, cluster_m;  // blocks of 64 rows that a CTA's tile has, CTAs along a cluster's rows
  // Groups of eight columns that it has, pieces of 64 rows of such, CTAs of a cluster and those
  // along its columns.
  Divisor groups, pieces, cluster, cluster_n;
  int rows, columns;      // of R
  int swapped;            // not 0: R is D's transpose
  OutputType type;        // of C, D and bias
  const float* partials;  // as leave_partial() wrote them
  void* d;

  // What is done to a sum, as GemmArgumentsSm90 says it: nothing if it is plain.
  int plain;
  int activation;
  float alpha, beta;
  const void* bias;  // of D's columns; null: none
  const void* c;     // null: none
  const float* tensor_scale_p;
  const float* tensor_scale_q;
  const float* row_scale;
  const float* column_scale;
};

// A thread has so many loads under way: an L2 access takes some 700 cycles, and one after the other
// would each cost that.
constexpr int kPartsTogetherSm90 = 8;
constexpr int kMostReducersSm90 = 8;

// The parts of a sum are shared among so many threads, and a CTA has 128 of each.
inline int reduce_threads_sm90(const ReduceArgumentsSm90& args) {
  return 128 * std::min(divide_up(args.parts, kPartsTogetherSm90), kMostReducersSm90);
}

// A CTA for each eight columns of 64 rows of a CTA's tile.
inline int reduce_ctas_sm90(const ReduceArgumentsSm90& args) {
  return args.raster.count() * args.cluster.number() * args.pieces.number();
}

}  // namespace assay::kernels

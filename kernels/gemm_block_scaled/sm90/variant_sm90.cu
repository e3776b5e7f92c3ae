// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"

#include "kernels/frame/templated_kernel.hpp"
#include "kernels/gemm/sm90/reduce_sm90.cuh"
#include "kernels/gemm_block_scaled/sm90/e4m3_sm90.cuh"
#include "kernels/gemm_block_scaled/sm90/make_variant_sm90.cuh"

namespace assay::kernels {
namespace {

BlockScaledKernelSm90 describe(const TemplatedKernel& kernel) {
  return {name_in_source(kernel), name_in_linker(kernel), kernel.kernel};
}

// Its template arguments only make it this file's own.
constexpr int kReduce = 100;
BlockScaledKernelSm90 reduce() {
  return describe({.name = "gemm_reduce_sm90",
                   .arguments = {kReduce, 0, 0},
                   .count = 3,
                   .kernel = reinterpret_cast<const void*>(&gemm_reduce_sm90<kReduce, 0, 0>)});
}

template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN>
BlockScaledVariantSm90 with_parts(BlockScaledVariantSm90 variant) {
  variant.parts = describe(
      {.name = "gemm_e4m3_block_scaled_parts_sm90",
       .arguments = {kTileM, kTileN, kStages, kClusterM, kClusterN},
       .count = 5,
       .kernel = reinterpret_cast<const void*>(
           &gemm_e4m3_block_scaled_parts_sm90<kTileM, kTileN, kStages, kClusterM, kClusterN>)});
  variant.reduce = reduce();
  return variant;
}

template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN>
BlockScaledVariantSm90 variant(double block_ns, double tile_ns) {
  return block_scaled_variant_sm90<kTileM, kTileN, kStages, kClusterM, kClusterN>(
      "gemm_e4m3_block_scaled_sm90",
      reinterpret_cast<const void*>(
          &gemm_e4m3_block_scaled_sm90<kTileM, kTileN, kStages, kClusterM, kClusterN>),
      block_ns, tile_ns);
}

// A form that splits tiles too.
template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN>
BlockScaledVariantSm90 splitting(double block_ns, double tile_ns) {
  return with_parts<kTileM, kTileN, kStages, kClusterM, kClusterN>(
      variant<kTileM, kTileN, kStages, kClusterM, kClusterN>(block_ns, tile_ns));
}

}  // namespace

std::span<const BlockScaledVariantSm90> block_scaled_variants_sm90() {
  // Template arguments: tile m, tile n, stages, cluster m, n.
  static const BlockScaledVariantSm90 all[] = {
      variant<128, 256, 4, 2, 1>(640, 1890),   variant<128, 256, 4, 1, 2>(646, 1940),
      variant<256, 128, 4, 2, 1>(653, 1860),   variant<256, 128, 3, 1, 2>(663, 1900),
      variant<128, 192, 5, 2, 1>(479, 1680),   splitting<128, 128, 5, 1, 2>(376, 1130),
      splitting<128, 128, 5, 2, 1>(362, 1000), splitting<128, 64, 7, 1, 2>(230, 590),
      splitting<64, 128, 7, 1, 2>(224, 600),   splitting<64, 128, 7, 1, 1>(224, 600)};
  return all;
}

}  // namespace assay::kernels

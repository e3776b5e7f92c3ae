// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/sm90/make_variant_sm90.cuh"
#include "kernels/grouped/sm90/e4m3_sm90.cuh"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN>
BlockScaledVariantSm90 variant(double block_ns, double tile_ns) {
  return block_scaled_variant_sm90<kTileM, kTileN, kStages, kClusterM, kClusterN>(
      "grouped_e4m3_block128_sm90",
      reinterpret_cast<const void*>(
          &grouped_e4m3_block128_sm90<kTileM, kTileN, kStages, kClusterM, kClusterN>),
      block_ns, tile_ns);
}

}  // namespace

std::span<const BlockScaledVariantSm90> grouped_e4m3_variants_sm90() {
  // Template arguments: tile m, tile n, stages, cluster m, n. Times are those of the block-scaled
  // product's forms (kernels/gemm_block_scaled/sm90/variant_sm90.cu).
  static const BlockScaledVariantSm90 all[] = {
      variant<128, 256, 4, 2, 1>(640, 1890), variant<128, 256, 4, 1, 2>(646, 1940),
      variant<128, 192, 5, 1, 2>(479, 1680), variant<128, 128, 5, 1, 2>(376, 1130),
      variant<64, 128, 7, 1, 2>(224, 600)};
  return all;
}

}  // namespace assay::kernels

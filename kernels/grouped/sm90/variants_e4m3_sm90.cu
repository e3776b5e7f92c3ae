// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/templated_kernel.hpp"
#include "kernels/grouped/sm90/e4m3_sm90.cuh"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN>
GroupedE4m3VariantSm90 variant(double block_ns, double tile_ns) {
  using Tile = BlockScaledTileSm90<kTileM, kTileN, kStages, kClusterM, kClusterN>;
  const auto text = [](int value) { return std::to_string(value); };
  const TemplatedKernel kernel{
      .name = "grouped_e4m3_block128_sm90",
      .arguments = {kTileM, kTileN, kStages, kClusterM, kClusterN},
      .count = 5,
      .kernel = reinterpret_cast<const void*>(
          &grouped_e4m3_block128_sm90<kTileM, kTileN, kStages, kClusterM, kClusterN>)};
  return {.name = text(kTileM) + "x" + text(kTileN) + "x" + text(Tile::kTileK) + "_c" +
                  text(kClusterM) + "x" + text(kClusterN) + "_s" + text(kStages),
          .kernel_name = name_in_source(kernel),
          .symbol = name_in_linker(kernel),
          .tile_m = kTileM,
          .tile_n = Tile::kTileN,
          .tile_k = Tile::kTileK,
          .width = Tile::kWidth,
          .mmas = Tile::kMmas,
          .cluster_m = kClusterM,
          .cluster_n = kClusterN,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .kernel = kernel.kernel,
          .block_ns = block_ns,
          .tile_ns = tile_ns};
}

}  // namespace

std::span<const GroupedE4m3VariantSm90> grouped_e4m3_variants_sm90() {
  // Template arguments: tile m, tile n, stages, cluster m, n. Times are those of the block-scaled
  // product's forms (kernels/gemm_block_scaled/sm90/variant_sm90.cu).
  static const GroupedE4m3VariantSm90 all[] = {
      variant<128, 256, 4, 2, 1>(640, 1890), variant<128, 256, 4, 1, 2>(646, 1940),
      variant<128, 192, 5, 1, 2>(479, 1680), variant<128, 128, 5, 1, 2>(376, 1130),
      variant<64, 128, 7, 1, 2>(224, 600)};
  return all;
}

}  // namespace assay::kernels

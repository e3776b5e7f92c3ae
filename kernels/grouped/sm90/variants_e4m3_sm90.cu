// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/templated_kernel.hpp"
#include "kernels/grouped/sm90/e4m3_sm90.cuh"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN>
GroupedE4m3VariantSm90 variant() {
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
          .mmas = Tile::kMmas,
          .cluster_m = kClusterM,
          .cluster_n = kClusterN,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .kernel = kernel.kernel};
}

}  // namespace

std::span<const GroupedE4m3VariantSm90> grouped_e4m3_variants_sm90() {
  // tile m, tile n, stages, cluster m, n
  static const GroupedE4m3VariantSm90 all[] = {variant<128, 256, 4, 2, 1>(),
                                               variant<128, 256, 4, 1, 2>()};
  return all;
}

// CTAs that share B move less, for B's part of a tile is the larger. But two tiles of rows belong
// to one cluster then, and a group of few rows leaves one of them empty.
const GroupedE4m3VariantSm90& grouped_e4m3_variant_sm90(const GroupedProblem& problem) {
  const auto variants = grouped_e4m3_variants_sm90();
  constexpr int kManyRows = 1024;
  const bool many =
      problem.grouping == Grouping::contiguous && problem.rows / problem.groups >= kManyRows;
  return many ? variants.front() : variants.back();
}

}  // namespace assay::kernels

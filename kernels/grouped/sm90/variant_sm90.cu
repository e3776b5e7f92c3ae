// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/sm90/variant_sm90.hpp"

#include "kernels/grouped/sm90/bf16_sm90.cuh"
#include "kernels/grouped/sm90/e4m3_sm90.cuh"
#include "kernels/grouped/sm90/k_bf16_sm90.cuh"

namespace assay::kernels {
namespace {

template <class Tile>
GroupedVariantSm90 variant(const std::string& kernel, const void* address) {
  const auto text = [](int value) { return std::to_string(value); };
  std::string arguments, symbol;
  for (const int value : {Tile::kTileN, Tile::kStages, Tile::kClusterM, Tile::kClusterN}) {
    arguments += (arguments.empty() ? "" : ", ") + text(value);
    symbol += "Li" + text(value) + "E";
  }
  return {.name = text(Tile::kTileM) + "x" + text(Tile::kTileN) + "x" + text(Tile::kTileK) + "_c" +
                  text(Tile::kClusterM) + "x" + text(Tile::kClusterN) + "_s" + text(Tile::kStages),
          .kernel_name = kernel + "<" + arguments + ">",
          .symbol = kernel + "I" + symbol + "E",
          .tile_m = Tile::kTileM,
          .tile_n = Tile::kTileN,
          .tile_k = Tile::kTileK,
          .cluster_m = Tile::kClusterM,
          .cluster_n = Tile::kClusterN,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .kernel = address};
}

template <int kTileN, int kStages, int kClusterM, int kClusterN>
GroupedVariantSm90 bf16() {
  return variant<GroupedTileBf16Sm90<kTileN, kStages, kClusterM, kClusterN>>(
      "grouped_bf16_sm90",
      reinterpret_cast<const void*>(&grouped_bf16_sm90<kTileN, kStages, kClusterM, kClusterN>));
}

template <int kTileN, int kStages, int kClusterM, int kClusterN>
GroupedVariantSm90 gradient() {
  return variant<GroupedTileBf16Sm90<kTileN, kStages, kClusterM, kClusterN>>(
      "grouped_k_bf16_sm90",
      reinterpret_cast<const void*>(&grouped_k_bf16_sm90<kTileN, kStages, kClusterM, kClusterN>));
}

template <int kTileN, int kStages, int kClusterM, int kClusterN>
GroupedVariantSm90 e4m3() {
  return variant<BlockScaledTileSm90<kTileN, kStages, kClusterM, kClusterN>>(
      "grouped_e4m3_block128_sm90",
      reinterpret_cast<const void*>(
          &grouped_e4m3_block128_sm90<kTileN, kStages, kClusterM, kClusterN>));
}

}  // namespace

std::span<const GroupedVariantSm90> grouped_variants_sm90(const GroupedProblem& problem) {
  // tile n, stages, cluster m, n
  static const GroupedVariantSm90 of_bf16[] = {bf16<256, 4, 2, 1>(), bf16<256, 4, 1, 2>()};
  static const GroupedVariantSm90 of_e4m3[] = {e4m3<256, 4, 2, 1>(), e4m3<256, 4, 1, 2>()};
  static const GroupedVariantSm90 of_gradients[] = {gradient<256, 4, 2, 1>()};
  if (problem.grouping == Grouping::gradient) return of_gradients;
  if (problem.type == "bf16") return of_bf16;
  return of_e4m3;
}

// CTAs that share B move less, for B's part of a tile is the larger. But two tiles of rows belong
// to one cluster then, and a group of few rows leaves one of them empty.
const GroupedVariantSm90& grouped_variant_sm90(const GroupedProblem& problem) {
  const auto variants = grouped_variants_sm90(problem);
  constexpr int kManyRows = 1024;
  const bool many =
      problem.grouping == Grouping::contiguous && problem.rows / problem.groups >= kManyRows;
  return many ? variants.front() : variants.back();
}

}  // namespace assay::kernels

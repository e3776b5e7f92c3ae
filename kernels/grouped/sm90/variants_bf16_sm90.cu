// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variants/make_variant_sm90.cuh"
#include "kernels/grouped/sm90/bf16_sm90.cuh"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

template <bool kGradients, int kTileM, int kTileN, int kClusterM, int kClusterN, bool kSwapped,
          bool kPingpong>
FormSm90 form() {
  constexpr int kStages = most_stages_sm90(1, kTileM, kTileN);
  return form_of_tile_sm90<GroupedTileBf16Sm90<kGradients, kTileM, kTileN, kStages, kClusterM,
                                               kClusterN, kSwapped, kPingpong>>(
      "bf16", "bf16", true,
      {.name = "grouped_bf16_sm90",
       .arguments = {kGradients, kTileM, kTileN, kStages, kClusterM, kClusterN, kSwapped,
                     kPingpong},
       .count = 8,
       .kernel = reinterpret_cast<const void*>(
           &grouped_bf16_sm90<kGradients, kTileM, kTileN, kStages, kClusterM, kClusterN, kSwapped,
                              kPingpong>)});
}

// Of rows: P is A, or swapped a group's B.
template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1>
FormSm90 rows() {
  return form<false, kTileM, kTileN, kClusterM, kClusterN, false, false>();
}
template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1>
FormSm90 rows_pingpong() {
  return form<false, kTileM, kTileN, kClusterM, kClusterN, false, true>();
}
template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1>
FormSm90 rows_swapped() {
  return form<false, kTileM, kTileN, kClusterM, kClusterN, true, false>();
}
template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1>
FormSm90 rows_swapped_pingpong() {
  return form<false, kTileM, kTileN, kClusterM, kClusterN, true, true>();
}
template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1>
FormSm90 gradients() {
  return form<true, kTileM, kTileN, kClusterM, kClusterN, false, false>();
}
template <int kTileM, int kTileN, int kClusterM = 1, int kClusterN = 1>
FormSm90 gradients_pingpong() {
  return form<true, kTileM, kTileN, kClusterM, kClusterN, false, true>();
}

}  // namespace

// CTAs that share B (2 x 1) move less where B's part of a tile is the larger. But two tiles of rows
// belong to one cluster then, and a group of few rows leaves one of them empty. Swapped, tiles are
// as wide as rows are wanted, and CTAs share those.
std::span<const GemmVariantSm90> grouped_bf16_variants_sm90(Grouping grouping) {
  static const std::vector<GemmVariantSm90> of_rows = describe_forms_sm90(std::array{
      rows<128, 256, 2>(), rows<128, 256, 1, 2>(), rows<256, 128, 1, 2>(),
      rows_pingpong<128, 128, 2>(), rows_pingpong<128, 128, 1, 2>(),
      rows_pingpong<128, 160, 1, 2>(), rows_pingpong<128, 176, 1, 2>(), rows_swapped<128, 32>(),
      rows_swapped<128, 64>(), rows_swapped<128, 192, 2>(), rows_swapped_pingpong<128, 16>(),
      rows_swapped_pingpong<128, 128, 2>(), rows_swapped_pingpong<128, 160, 2>()});
  static const std::vector<GemmVariantSm90> of_gradients = describe_forms_sm90(
      std::array{gradients<128, 256, 2>(), gradients<128, 256, 1, 2>(), gradients<256, 128, 1, 2>(),
                 gradients_pingpong<128, 128, 1, 2>()});
  if (grouping == Grouping::gradient) return of_gradients;
  return of_rows;
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm100/variant_sm100.hpp"

#include <array>

#include "kernels/frame/templated_kernel.hpp"
#include "kernels/gemm/sm100/bf16_sm100.cuh"

namespace assay::kernels {
namespace {

template <int kCtas, int kTileN, int kStages>
GemmVariantSm100 variant() {
  using Tile = GemmTileSm100<kCtas, kTileN, kStages>;
  const auto text = [](int value) { return std::to_string(value); };
  const TemplatedKernel kernel{
      .name = "gemm_bf16_nt_sm100",
      .arguments = {kCtas, kTileN, kStages},
      .count = 3,
      .kernel = reinterpret_cast<const void*>(&gemm_bf16_nt_sm100<kCtas, kTileN, kStages>)};
  return {.name = text(Tile::kTileM) + "x" + text(kTileN) + "x" + text(Tile::kTileK) + "_p" +
                  text(kCtas) + "_s" + text(kStages),
          .kernel_name = name_in_source(kernel),
          .symbol = name_in_linker(kernel),
          .ctas = kCtas,
          .tile_m = Tile::kTileM,
          .tile_n = kTileN,
          .tile_k = Tile::kTileK,
          .box_a = Tile::kRows,
          .box_b = Tile::kRowsB,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .kernel = kernel.kernel};
}

}  // namespace

std::span<const GemmVariantSm100> gemm_bf16_nt_variants_sm100() {
  // CTAs, tile n, stages
  static const std::array all = {variant<1, 128, 4>(), variant<2, 256, 4>()};
  return all;
}

}  // namespace assay::kernels

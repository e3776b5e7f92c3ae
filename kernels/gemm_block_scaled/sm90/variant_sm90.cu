// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"

#include "kernels/gemm_block_scaled/sm90/e4m3_sm90.cuh"

namespace assay::kernels {
namespace {

template <int kTileN, int kStages, int kClusterM, int kWidth, int kParts, bool kARegisters>
BlockScaledVariantSm90 variant() {
  using Tile = BlockScaledTileSm90<kTileN, kStages, kClusterM, kWidth, kParts, kARegisters>;
  const auto text = [](int value) { return std::to_string(value); };
  return {
      .name = text(Tile::kTileM) + "x" + text(kTileN) + "x" + text(Tile::kTileK) + "_c" +
              text(kClusterM) + "_s" + text(kStages),
      .kernel_name = "gemm_e4m3_block_scaled_sm90<" + text(kTileN) + ", " + text(kStages) + ", " +
                     text(kClusterM) + ", " + text(kWidth) + ", " + text(kParts) + ", " +
                     (kARegisters ? "true" : "false") + ">",
      .symbol = "gemm_e4m3_block_scaled_sm90ILi" + text(kTileN) + "ELi" + text(kStages) + "ELi" +
                text(kClusterM) + "ELi" + text(kWidth) + "ELi" + text(kParts) + "ELb" +
                text(kARegisters) + "E",
      .tile_m = Tile::kTileM,
      .tile_n = kTileN,
      .tile_k = Tile::kTileK,
      .width = kWidth,
      .cluster = kClusterM,
      .threads = Tile::kThreads,
      .shared_bytes = Tile::kSharedBytes,
      .kernel = reinterpret_cast<const void*>(
          &gemm_e4m3_block_scaled_sm90<kTileN, kStages, kClusterM, kWidth, kParts, kARegisters>)};
}

}  // namespace

std::span<const BlockScaledVariantSm90> block_scaled_variants_sm90() {
  // tile n, stages, cluster, width, parts, A from registers
  static const BlockScaledVariantSm90 all[] = {variant<256, 4, 2, 64, 2, true>()};
  return all;
}

}  // namespace assay::kernels

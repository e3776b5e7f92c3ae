// SPDX-License-Identifier: Apache-2.0
// Describes the forms of the block-scaled Hopper kernels, dense and grouped.
#pragma once
#include <string>

#include "kernels/frame/templated_kernel.hpp"
#include "kernels/gemm_block_scaled/sm90/tile_sm90.cuh"
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"

namespace assay::kernels {

// Of a kernel template that is called `name`, the instance with these arguments: those of
// BlockScaledTileSm90.
template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN>
BlockScaledVariantSm90 block_scaled_variant_sm90(const char* name, const void* instance,
                                                 double block_ns, double tile_ns) {
  using Tile = BlockScaledTileSm90<kTileM, kTileN, kStages, kClusterM, kClusterN>;
  const auto text = [](int value) { return std::to_string(value); };
  const TemplatedKernel kernel{.name = name,
                               .arguments = {kTileM, kTileN, kStages, kClusterM, kClusterN},
                               .count = 5,
                               .kernel = instance};
  return {.name = text(kTileM) + "x" + text(kTileN) + "x" + text(Tile::kTileK) + "_c" +
                  text(kClusterM) + "x" + text(kClusterN) + "_s" + text(kStages),
          .kernel_name = name_in_source(kernel),
          .symbol = name_in_linker(kernel),
          .tile_m = kTileM,
          .tile_n = kTileN,
          .tile_k = Tile::kTileK,
          .width = Tile::kWidth,
          .mmas = Tile::kMmas,
          .scale_rows = Tile::kScaleRows,
          .scale_blocks = Tile::kBlocksN,
          .cluster_m = kClusterM,
          .cluster_n = kClusterN,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .kernel = instance,
          .block_ns = block_ns,
          .tile_ns = tile_ns};
}

}  // namespace assay::kernels

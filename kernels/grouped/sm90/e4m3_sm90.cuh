// SPDX-License-Identifier: Apache-2.0
// The grouped block-scaled product.
#pragma once
#include "kernels/gemm_block_scaled/sm90/block_scaled_sm90.cuh"
#include "kernels/grouped/sm90/tiles_sm90.cuh"

namespace assay::kernels {

// Template arguments are BlockScaledTileSm90's.
template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN>
__global__ void __cluster_dims__(kClusterM* kClusterN, 1, 1) __launch_bounds__(384, 1)
    grouped_e4m3_block128_sm90(const __grid_constant__ BlockScaledMaps maps,
                               const __grid_constant__ GroupsSm90 groups, const int k_blocks) {
  using Tile = BlockScaledTileSm90<kTileM, kTileN, kStages, kClusterM, kClusterN>;
  static_assert(Tile::kThreads == 384);
  gemm_block_scaled<Tile, GroupedTilesSm90<Tile>>(maps, groups, k_blocks);
}

}  // namespace assay::kernels

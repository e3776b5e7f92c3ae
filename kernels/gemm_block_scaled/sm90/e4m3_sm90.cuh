// SPDX-License-Identifier: Apache-2.0
// The dense block-scaled product.
#pragma once
#include "kernels/gemm_block_scaled/sm90/block_scaled_sm90.cuh"

namespace assay::kernels {

// Template arguments are BlockScaledTileSm90's.
template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN>
__global__ void __cluster_dims__(kClusterM* kClusterN, 1, 1) __launch_bounds__(384, 1)
    gemm_e4m3_block_scaled_sm90(const __grid_constant__ BlockScaledMaps maps,
                                const __grid_constant__ DenseBlockScaledSm90 product,
                                const int k_blocks) {
  using Tile = BlockScaledTileSm90<kTileM, kTileN, kStages, kClusterM, kClusterN>;
  static_assert(Tile::kThreads == 384);
  gemm_block_scaled<Tile, DenseTilesSm90<Tile>>(maps, product, k_blocks);
}

// The same in parts.
template <int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN>
__global__ void __cluster_dims__(kClusterM* kClusterN, 1, 1) __launch_bounds__(384, 1)
    gemm_e4m3_block_scaled_parts_sm90(const __grid_constant__ BlockScaledMaps maps,
                                      const __grid_constant__ BlockScaledPartsSm90 parts,
                                      const int k_blocks) {
  using Tile = BlockScaledTileSm90<kTileM, kTileN, kStages, kClusterM, kClusterN>;
  gemm_block_scaled<Tile, PartTilesSm90<Tile>>(maps, parts, k_blocks);
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The dense block-scaled product: every tile of D, in the order of a raster.
#pragma once
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm_block_scaled/sm90/block_scaled_sm90.cuh"

namespace assay::kernels {

template <class Tile>
struct DenseTilesSm90 {
  Raster raster;

  __device__ int first() const { return static_cast<int>(blockIdx.x) / Tile::kClusterM; }
  __device__ int step() const { return static_cast<int>(gridDim.x) / Tile::kClusterM; }
  __device__ bool find(int index, int rank, BlockScaledPlace& at) const {
    if (index >= raster.count()) return false;
    const TilePosition position = raster.at(index);
    at.row = (position.m * Tile::kClusterM + rank) * Tile::kTileM;
    at.column = at.row_b = position.n * Tile::kTileN;
    at.row_scale_b = position.n * Tile::kBlocksN;
    return true;
  }
};

// Template arguments are BlockScaledTileSm90's.
template <int kTileN, int kStages, int kClusterM, int kWidth, int kParts, bool kARegisters>
__global__ void __cluster_dims__(kClusterM, 1, 1) __launch_bounds__(384, 1)
    gemm_e4m3_block_scaled_sm90(const __grid_constant__ BlockScaledMaps maps, const Raster raster,
                                const int k_blocks) {
  using Tile = BlockScaledTileSm90<kTileN, kStages, kClusterM, kWidth, kParts, kARegisters>;
  static_assert(Tile::kThreads == 384);
  gemm_block_scaled<Tile>(maps, DenseTilesSm90<Tile>{raster}, k_blocks);
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// Which tiles a CTA does, one after the other, and where they are in the operands.
#pragma once
#include "harness/ptx/cluster.cuh"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm_block_scaled/sm90/dense_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/store_sm90.cuh"

namespace assay::kernels {

struct TilePlaceSm90 {
  int row, column;              // in D; rows of A are the same
  int row_b;                    // rows of B
  int scale_column, scale_row;  // in scale_a: the tile's first row and the first block along k
  int scale_row_b;              // in scale_b
  int rows_end;                 // rows of D from here on are not the tile's
};

// Every tile of one matrix, in the order of a raster of cluster tiles.
template <class Tile>
class DenseTilesSm90 {
 public:
  static constexpr bool kEdges = true;

  __device__ explicit DenseTilesSm90(const DenseBlockScaledSm90& product)
      : product_(product),
        raster_(product.raster),
        index_(product.places.at(static_cast<int>(blockIdx.x) / Tile::kClusterSize)),
        rank_(static_cast<int>(ptx::cluster_cta_rank())) {}

  __device__ bool next(TilePlaceSm90& at) {
    if (index_ >= raster_.count()) return false;
    const TilePosition position = raster_.at(index_);
    index_ += static_cast<int>(gridDim.x) / Tile::kClusterSize;
    const int tile_n = position.n * Tile::kClusterN + rank_ % Tile::kClusterN;
    at.row = at.scale_column =
        (position.m * Tile::kClusterM + rank_ / Tile::kClusterN) * Tile::kTileM;
    at.column = at.row_b = tile_n * Tile::kTileN;
    at.scale_row = 0;
    at.scale_row_b = tile_n * Tile::kTileN / 128;
    return true;
  }

  __device__ const StepMeeting& meeting() const { return product_.meeting; }

  __device__ int rows_a() const { return product_.m; }
  __device__ int rows_b() const { return product_.n; }
  __device__ const CUtensorMap* edge_a() const { return &product_.edge_a; }
  __device__ const CUtensorMap* edge_b() const { return &product_.edge_b; }

  // TMA knows where D ends.
  __device__ NoEdgeSm90 edge(const TilePlaceSm90&) const { return {}; }

 private:
  const DenseBlockScaledSm90& product_;
  Raster raster_;
  int index_, rank_;
};

}  // namespace assay::kernels

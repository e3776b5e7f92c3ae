// SPDX-License-Identifier: Apache-2.0
// The tiles of all groups, one group after the other, from sizes that lie on the device.
//
// A persistent CTA goes from one of its tiles to the next past groups whose sizes it reads on the
// way; nobody counts tiles beforehand, and the host knows none of it. Tiles of a group are in the
// order of a raster of its own.
#pragma once
#include <cuda_bf16.h>

#include "kernels/gemm/raster.hpp"
#include "kernels/gemm_block_scaled/sm90/store_sm90.cuh"
#include "kernels/gemm_block_scaled/sm90/tiles_sm90.cuh"
#include "kernels/grouped/sm90/groups_sm90.hpp"

namespace assay::kernels {

template <class Tile>
class GroupedTilesSm90 {
 public:
  __device__ explicit GroupedTilesSm90(const GroupsSm90& groups)
      : groups_(groups), index_(static_cast<int>(blockIdx.x) / Tile::kClusterSize) {}

  __device__ bool next(TilePlaceSm90& at) {
    while (index_ >= raster().count()) {
      index_ -= raster().count();
      if (++group_ >= groups_.groups) return false;
      open();
    }
    const TilePosition position = raster().at(index_);
    index_ += static_cast<int>(gridDim.x) / Tile::kClusterSize;
    const int rank = static_cast<int>(ptx::cluster_cta_rank());
    const int rank_m = Tile::kClusterM == 1 ? 0 : rank / Tile::kClusterN;
    const int rank_n = Tile::kClusterN == 1 ? 0 : rank % Tile::kClusterN;
    const int row = (position.m * Tile::kClusterM + rank_m) * Tile::kTileM;
    const int tile_n = position.n * Tile::kClusterN + rank_n;
    at.row = begin_ + row;
    at.column = tile_n * Tile::kTileN;
    at.row_b = group_ * groups_.n + at.column;
    at.scale_column = groups_.masked ? row : at.row;
    at.scale_row = groups_.masked ? group_ * groups_.k_blocks : 0;
    at.scale_row_b = group_ * groups_.n_blocks + at.column / 128;
    at.rows_end = end_;
    return true;
  }

  __device__ RowEdgeSm90 edge(const TilePlaceSm90& at) const {
    return {at.rows_end, groups_.d, groups_.n};
  }

 private:
  // Sizes that cannot be are taken as the nearest that can.
  __device__ void open() {
    const int size = groups_.sizes[group_];
    if (groups_.masked) {
      begin_ = group_ * groups_.rows;
      end_ = begin_ + min(max(size, 0), groups_.rows);
    } else {
      begin_ = end_;
      end_ = min(max(size, begin_), groups_.rows);
    }
  }

  // Made anew each time: what lives on while a tile is multiplied takes registers from it.
  __device__ Raster raster() const {
    constexpr int kRows = Tile::kTileM * Tile::kClusterM;
    constexpr int kColumns = Tile::kTileN * Tile::kClusterN;
    return {.rows = (end_ - begin_ + kRows - 1) / kRows,
            .columns = (groups_.n + kColumns - 1) / kColumns,
            .band = groups_.band};
  }

  const GroupsSm90& groups_;
  int group_ = -1, begin_ = 0, end_ = 0;  // rows of the group; at first, of none
  int index_;                             // of the next tile, counted from the group's first one
};

}  // namespace assay::kernels

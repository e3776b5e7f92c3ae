// SPDX-License-Identifier: Apache-2.0
// Tiles of groups as the block-scaled product's pipeline takes them.
#pragma once
#include "harness/ptx/cluster.cuh"
#include "kernels/gemm_block_scaled/sm90/store_sm90.cuh"
#include "kernels/gemm_block_scaled/sm90/tiles_sm90.cuh"
#include "kernels/grouped/sm90/group_walk_sm90.cuh"

namespace assay::kernels {

template <class Tile>
class GroupedTilesSm90 {
 public:
  static constexpr bool kEdges = false, kParts = false;

  __device__ explicit GroupedTilesSm90(const GroupsSm90& groups)
      : groups_(groups),
        walk_(groups, groups.places.at(static_cast<int>(blockIdx.x) / Tile::kClusterSize),
              static_cast<int>(gridDim.x) / Tile::kClusterSize) {}

  __device__ bool next(TilePlaceSm90& at) {
    if (!walk_.next()) return false;
    const TilePosition position = walk_.position();
    const int rank = static_cast<int>(ptx::cluster_cta_rank());
    const int rank_m = Tile::kClusterM == 1 ? 0 : rank / Tile::kClusterN;
    const int rank_n = Tile::kClusterN == 1 ? 0 : rank % Tile::kClusterN;
    const int row = (position.m * Tile::kClusterM + rank_m) * Tile::kTileM;
    const int tile_n = position.n * Tile::kClusterN + rank_n;
    at.row = walk_.begin() + row;
    at.column = tile_n * Tile::kTileN;
    at.row_b = walk_.group() * groups_.n + at.column;
    at.scale_column = groups_.masked ? row : at.row;
    at.scale_row = groups_.masked ? walk_.group() * groups_.k_blocks : 0;
    at.scale_row_b = walk_.group() * groups_.n_blocks + at.column / 128;
    at.rows_end = walk_.end();
    return true;
  }

  __device__ static BlockRangeSm90 blocks(int k_blocks) { return {0, k_blocks}; }

  __device__ const StepMeeting& meeting() const { return groups_.meeting; }

  __device__ RowEdgeSm90 edge(const TilePlaceSm90& at) const {
    return {at.rows_end, groups_.d, groups_.n};
  }

 private:
  const GroupsSm90& groups_;
  GroupWalkSm90<GroupedTiles::rows, Tile::kTileM * Tile::kClusterM, Tile::kTileN * Tile::kClusterN>
      walk_;
};

}  // namespace assay::kernels

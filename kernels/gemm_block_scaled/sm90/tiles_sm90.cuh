// SPDX-License-Identifier: Apache-2.0
// Which tiles a CTA does, one after the other, and where they are in the operands.
#pragma once
#include <cstdint>

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

// Blocks [begin, end) along k.
struct BlockRangeSm90 {
  int begin, end;
};

// Every tile of one matrix, in the order of a raster of cluster tiles.
template <class Tile>
class DenseTilesSm90 {
 public:
  static constexpr bool kEdges = true, kParts = false;

  __device__ explicit DenseTilesSm90(const DenseBlockScaledSm90& product)
      : product_(product),
        raster_(product.raster),
        index_(product.places.at(static_cast<int>(blockIdx.x) / Tile::kClusterSize)),
        rank_(static_cast<int>(ptx::cluster_cta_rank())) {}

  __device__ bool next(TilePlaceSm90& at) {
    if (index_ >= raster_.count()) return false;
    place(raster_.at(index_), at);
    index_ += static_cast<int>(gridDim.x) / Tile::kClusterSize;
    return true;
  }

  __device__ static BlockRangeSm90 blocks(int k_blocks) { return {0, k_blocks}; }

  __device__ const StepMeeting& meeting() const { return product_.meeting; }

  __device__ int rows_a() const { return product_.m; }
  __device__ int rows_b() const { return product_.n; }
  __device__ const CUtensorMap* edge_a() const { return &product_.edge_a; }
  __device__ const CUtensorMap* edge_b() const { return &product_.edge_b; }

  // TMA knows where D ends.
  __device__ NoEdgeSm90 edge(const TilePlaceSm90&) const { return {}; }

 protected:
  __device__ void place(const TilePosition& position, TilePlaceSm90& at) const {
    const int tile_n = position.n * Tile::kClusterN + rank_ % Tile::kClusterN;
    at.row = at.scale_column =
        (position.m * Tile::kClusterM + rank_ / Tile::kClusterN) * Tile::kTileM;
    at.column = at.row_b = tile_n * Tile::kTileN;
    at.scale_row = 0;
    at.scale_row_b = tile_n * Tile::kTileN / 128;
  }

  const DenseBlockScaledSm90& product_;
  Raster raster_;
  int index_, rank_;
};

// One part of one tile for each cluster.
template <class Tile>
class PartTilesSm90 : public DenseTilesSm90<Tile> {
 public:
  static constexpr bool kParts = true;

  __device__ explicit PartTilesSm90(const BlockScaledPartsSm90& parts)
      : DenseTilesSm90<Tile>(parts.product),
        parts_(parts),
        part_(this->index_ / this->raster_.count()) {}

  __device__ bool next(TilePlaceSm90& at) {
    if (done_) return false;
    this->place(this->raster_.at(this->index_ - part_ * this->raster_.count()), at);
    done_ = true;
    return true;
  }

  __device__ BlockRangeSm90 blocks(int) const {
    const int begin = parts_.blocks_each * part_ + min(part_, parts_.blocks_over);
    return {begin, begin + parts_.blocks_each + (part_ < parts_.blocks_over ? 1 : 0)};
  }

  // Leaves a consumer's sums as leave_partial() of kernels/gemm/sm90/gemm_sm90.cuh does: of each
  // 64 rows the groups of eight columns, one after the other.
  template <class Sums>
  __device__ void leave(const Sums& sum, int consumer) const {
    constexpr int kGroups = Tile::kTileN / 8, kOfMma = Tile::kWidth / 8;
    const int slot = this->index_ * Tile::kClusterSize + this->rank_;
    float4* const to = reinterpret_cast<float4*>(parts_.partials) + threadIdx.x % 128 +
                       std::int64_t{slot} * (Tile::kTileM / 64 * kGroups * 128);
    const int first_block = Tile::kConsumersM == 1 ? 0 : consumer;
    const int first_group = Tile::kConsumersM == 1 ? consumer * (Tile::kColumns / 8) : 0;
#pragma unroll
    for (int m = 0; m < Tile::kGroupsM; ++m)
#pragma unroll
      for (int n = 0; n < Tile::kGroupsN; ++n)
#pragma unroll
        for (int j = 0; j < kOfMma; ++j)
          to[((first_block + m * Tile::kConsumersM) * kGroups + first_group + n * kOfMma + j) *
             128] = {sum[m][n][4 * j], sum[m][n][4 * j + 1], sum[m][n][4 * j + 2],
                     sum[m][n][4 * j + 3]};
  }

 private:
  const BlockScaledPartsSm90& parts_;
  int part_;
  bool done_ = false;
};

}  // namespace assay::kernels

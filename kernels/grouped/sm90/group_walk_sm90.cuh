// SPDX-License-Identifier: Apache-2.0
// The tiles of all groups, one group after the other, from sizes that lie on the device.
//
// A worker goes from one of its tiles to the next past groups whose sizes it reads on the way;
// nobody counts tiles beforehand, and the host knows none of it. Tiles of a group are in the order
// of a raster of its own.
#pragma once
#include "kernels/gemm/raster.hpp"
#include "kernels/grouped/sm90/groups_sm90.hpp"

namespace assay::kernels {

// What a group's raster of cluster tiles covers: its rows by D's columns, the transpose of that, or
// a D for each group whatever its rows are.
enum class GroupedTiles { rows, columns, whole };

// kHeight, kWidth: of a cluster's tile.
template <GroupedTiles kTiles, int kHeight, int kWidth>
class GroupWalkSm90 {
 public:
  __device__ GroupWalkSm90(const GroupsSm90& groups, int worker, int workers)
      : groups_(groups), workers_(workers), index_(worker - workers) {
    open();
  }

  // The worker's next tile; false when nothing is left.
  __device__ bool next() {
    index_ += workers_;
    for (int count = raster().count(); index_ >= count; count = raster().count()) {
      index_ -= count;
      if (++group_ >= groups_.groups) return false;
      open();
    }
    return true;
  }

  __device__ int group() const { return group_; }
  // Of the group's rows in A.
  __device__ int begin() const { return begin_; }
  __device__ int end() const { return end_; }
  // In the group's raster.
  __device__ TilePosition position() const { return raster().at(index_); }

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
    const int rows = end_ - begin_;
    const int height = kTiles == GroupedTiles::rows      ? rows
                       : kTiles == GroupedTiles::columns ? groups_.n
                                                         : groups_.m;
    const int width = kTiles == GroupedTiles::columns ? rows : groups_.n;
    return {.rows = (height + kHeight - 1) / kHeight,
            .columns = (width + kWidth - 1) / kWidth,
            .band = groups_.band};
  }

  const GroupsSm90& groups_;
  int workers_;
  int group_ = 0, begin_ = 0, end_ = 0;
  int index_;  // of the tile, counted from the group's first one
};

}  // namespace assay::kernels

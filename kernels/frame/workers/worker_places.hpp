// SPDX-License-Identifier: Apache-2.0
// With which tile each worker of a persistent grid begins, so that the SMs of a GPC read the same
// lines at the same time.
//
// L2 answers SMs of one GPC once for what they ask for at about the same time, but only for what is
// not multicast. CTAs of a cluster share one operand by multicast; so the clusters of a GPC should
// have the other in common. Neighbours in the grid are not in one GPC: a GPU gives clusters to its
// GPCs in turn (`placement/order`). With these places a bf16 product of 4096 cubed by tiles of
// 64x128 read 42 million sectors from L2 in place of 95 on an H100, in 201 us in place of 332; by
// tiles of 128x256, which ask for less, 28 in place of 35. That saves power, and bursts of large
// products gained 1 to 7% beside torch (results/h100/2026-11-26-places, 2026-11-26-torch-bf16).
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace assay::kernels {

class WorkerPlaces {
 public:
  static constexpr int kMost = 132;  // workers

  constexpr WorkerPlaces() = default;  // each worker at its own index

  // `places`: a permutation of the numbers from 0 up, one for each worker, at most kMost.
  explicit WorkerPlaces(const std::vector<int>& places);

  __host__ __device__ constexpr int at(int worker) const {
    return given_ ? places_[worker] : worker;
  }

 private:
  bool given_ = false;
  std::uint8_t places_[kMost] = {};
};

// Rows and columns of cluster tiles that the clusters of a GPC cover. Where one operand is
// multicast, all share the other; where none is, a square has most in common; where both are,
// nothing is left.
struct ClusterBlock {
  int rows, columns;
};
ClusterBlock cluster_block(int cluster_m, int cluster_n);

// A worker is a cluster of cluster_m CTAs down the rows of a raster and cluster_n along its columns
// (Raster, `columns` cluster tiles wide, its bands `band` high). A GPU of other GPCs than an H100's
// or H200's of 132 SMs gets a permutation too, of no use to it.
WorkerPlaces worker_places(int workers, int cluster_m, int cluster_n, int columns, int band);

// Whether whole tiles gain more by their places than by an early launch (launch.hpp): of a grid
// that comes early, clusters go to whatever SMs become free, in no order. They do where the
// clusters of a GPC ask L2 for much that they can read together, and long enough. `rows`,
// `columns`: of the raster, in cluster tiles. `steps`: 128 bytes along k each, that a worker does.
bool gains_by_places(int tile_m, int tile_n, int cluster_m, int cluster_n, int rows, int columns,
                     int steps);

// As few workers as do not take another wave of so many tiles, which leaves power and L2 to others,
// but eights of them where `most` allows: the next wave is then in the same order.
int workers_of_waves(int tiles, int most);

// Which worker each is when those of one GPC follow each other: [worker] -> rank, from 0. GPCs with
// room for 16 CTAs come first; what else there is, the rest of larger ones and smaller ones, last.
std::vector<int> ranks_by_gpc(int workers, int ctas_of_cluster);

}  // namespace assay::kernels

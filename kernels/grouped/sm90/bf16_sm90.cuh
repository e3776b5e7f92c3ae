// SPDX-License-Identifier: Apache-2.0
// The grouped bf16 products on Hopper: f32 accumulation. The pipeline is the dense product's
// (kernels/gemm/sm90/pipeline_sm90.cuh); here is which tiles there are, which every role reads from
// the groups' sizes for itself, and where they lie.
//
// A tile begins with a row of its group, wherever that is, and may reach into the rows of the next:
// these are multiplied too, and not written.
//
// Weight gradients: D[g] = A^T B over the rows of group g. A [rows, m] and B [rows, n] run fastest
// along what are D's dimensions: both operands are M- or N-major. A tile's sum has as many steps as
// its group's rows need. The last one's stage holds rows of the next group, of nobody, or none.
// Consumers overwrite them with zeros in shared memory, in both operands: what is there may be
// infinite or NaN, and so may its product with zero.
#pragma once

#include <cstdint>

#include "harness/ptx/fence.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "kernels/gemm/sm90/pipeline_sm90.cuh"
#include "kernels/gemm/sm90/plain_results_sm90.cuh"
#include "kernels/grouped/sm90/group_walk_sm90.cuh"

namespace assay::kernels {

// The Work of multiply_tiles() for groups.
template <class Tile, bool kGradients>
class GroupedWorkSm90 : public PlainResultsSm90 {
 public:
  using Arguments = GroupsSm90;
  static constexpr bool kRaggedK = kGradients, kClipped = true, kEdges = false;
  static constexpr bool kUnitsInMemory = true;
  static constexpr bool kEitherType = false, kAddsC = false;

  __device__ static bool lets_next_in(const GroupsSm90&) { return true; }

  __device__ GroupedWorkSm90(const GroupsSm90& groups, int rank_m, int rank_n)
      : groups_(groups),
        rank_m_(rank_m),
        rank_n_(rank_n),
        walk_(groups, groups.places.at(static_cast<int>(blockIdx.x) / Tile::kClusterSize),
              static_cast<int>(gridDim.x) / Tile::kClusterSize) {}

  __device__ static FirstLoads first_loads(const GroupsSm90& groups, int rank_m, int rank_n) {
    GroupedWorkSm90 work(groups, rank_m, rank_n);
    WorkUnit unit;
    if (!work.next(unit)) return {};
    return {work.operands(unit), unit.k_begin, first_steps_sent(unit)};
  }
  __device__ static int first_steps_sent(const WorkUnit& unit) {
    return min(unit.k_end - unit.k_begin, kFirstStepsSm90);
  }

  __device__ const StepMeeting& meeting() const { return groups_.meeting; }

  __device__ bool next(WorkUnit& unit) {
    if (!walk_.next()) return false;
    const int rows = walk_.end() - walk_.begin();
    unit = {0, 0, kGradients ? (rows + Tile::kTileK - 1) / Tile::kTileK : groups_.k_steps};
    return true;
  }

  __device__ static std::uint64_t policy_p() { return 0; }

  __device__ OperandPlace operands(const WorkUnit&) const {
    const TilePosition at = in_group();
    if (kGradients) return {at.m, at.n, walk_.begin()};
    const int of_b = walk_.group() * groups_.n;
    if (Tile::kSwapped) return {of_b + at.m, walk_.begin() + at.n, 0};
    return {walk_.begin() + at.m, of_b + at.n, 0};
  }

  __device__ ResultPlace results(const WorkUnit&) const {
    const TilePosition at = in_group();
    if (kGradients) {  // all groups' D lie below each other
      const int first = walk_.group() * groups_.m;
      return {first + at.m, at.n, first + groups_.m};
    }
    if (Tile::kSwapped) return {at.m, walk_.begin() + at.n, walk_.end()};
    return {walk_.begin() + at.m, at.n, walk_.end()};
  }

  // By all warpgroups that share the tile; then all of them see it, and wgmma.
  __device__ void clear_tail(int step, std::uint8_t* p, std::uint8_t* q, int barrier) const {
    const int from = walk_.end() - walk_.begin() - step * Tile::kTileK;
    if (from >= Tile::kTileK) return;
    constexpr int kThreads = Tile::kSharing * 128;
    const int thread = static_cast<int>(threadIdx.x - 128) % kThreads;
    // Both operands: blocks of 64 rows of 128 bytes.
#pragma unroll 1
    for (int i = from * 8 + thread; i < Tile::kTileK * 8; i += kThreads) {
#pragma unroll
      for (int block = 0; block < Tile::kTileM / 64; ++block)
        reinterpret_cast<uint4*>(p + block * 8192)[i] = {};
#pragma unroll
      for (int block = 0; block < Tile::kTileN / 64; ++block)
        reinterpret_cast<uint4*>(q + block * 8192)[i] = {};
    }
    ptx::fence_proxy_async_shared();
    ptx::named_barrier_sync(barrier, kThreads);
  }

  // Each tile is one worker's, and its sums are the results.
  template <class Sums>
  __device__ static bool shares(const WorkUnit&, const Sums&, int, int) {
    return false;
  }
  __device__ static bool half() { return false; }

 private:
  // The CTA's first row and column of the group's tiles.
  __device__ TilePosition in_group() const {
    const TilePosition at = walk_.position();
    return {(at.m * Tile::kClusterM + rank_m_) * Tile::kTileM,
            (at.n * Tile::kClusterN + rank_n_) * Tile::kTileN};
  }

  static constexpr GroupedTiles kTiles = kGradients       ? GroupedTiles::whole
                                         : Tile::kSwapped ? GroupedTiles::columns
                                                          : GroupedTiles::rows;

  const GroupsSm90& groups_;
  int rank_m_, rank_n_;
  GroupWalkSm90<kTiles, Tile::kTileM * Tile::kClusterM, Tile::kTileN * Tile::kClusterN> walk_;
};

template <bool kGradients, int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN,
          bool kSwapped, bool kPingpong>
using GroupedTileBf16Sm90 =
    GemmTileSm90<static_cast<int>(ptx::WgmmaTypes::bf16), kGradients, kGradients, kTileM, kTileN,
                 kStages, kClusterM, kClusterN, kSwapped, kPingpong>;

// Template arguments but the first are GemmTileSm90's.
template <bool kGradients, int kTileM, int kTileN, int kStages, int kClusterM, int kClusterN,
          bool kSwapped, bool kPingpong>
__global__ void __cluster_dims__(kClusterM* kClusterN, 1, 1) __launch_bounds__(384, 1)
    grouped_bf16_sm90(const __grid_constant__ CUtensorMap map_p,
                      const __grid_constant__ CUtensorMap map_q,
                      const __grid_constant__ CUtensorMap map_d,
                      const __grid_constant__ GroupsSm90 groups) {
  using Tile = GroupedTileBf16Sm90<kGradients, kTileM, kTileN, kStages, kClusterM, kClusterN,
                                   kSwapped, kPingpong>;
  multiply_tiles<Tile, GroupedWorkSm90<Tile, kGradients>>(map_p, map_q, map_d, map_p, map_q,
                                                          nullptr, groups);
}

}  // namespace assay::kernels

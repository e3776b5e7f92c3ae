// SPDX-License-Identifier: Apache-2.0
// Weight gradients of groups on Hopper: D[g] = A^T B over the rows of group g, bf16, f32
// accumulation.
//
// A [rows, m] and B [rows, n] run fastest along what are D's dimensions: both operands are M- or
// N-major, in boxes of 64 rows along the sum and 64 elements across. A tile of D is summed over its
// group's rows, whose number the device alone knows; the pipeline is that of bf16_sm90.cuh, and
// CTAs of a cluster, one below the other in D, share B.
//
// A group's last stage holds rows of the next group, of nobody, or none. Consumers overwrite them
// with zeros in shared memory, in both operands: what is there may be infinite or NaN, and so may
// its product with zero.
#pragma once

#include <cstdint>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/wgmma.cuh"
#include "kernels/grouped/sm90/bf16_sm90.cuh"

namespace assay::kernels {

constexpr int kBytesBlockMnMajor = 64 * 128;  // 64 rows along the sum x 64 elements of bf16

// The tiles of D, group by group. Each is a sum over as many stages as its group's rows need.
template <class Tile>
class GradientTilesSm90 {
 public:
  __device__ explicit GradientTilesSm90(const GroupsSm90& groups)
      : groups_(groups), index_(static_cast<int>(blockIdx.x) / Tile::kClusterSize) {}

  // Where the tile is in a group's D, which group's it is, and which rows are summed.
  struct Place {
    int group, row, column, begin, end;
  };

  __device__ bool next(Place& at) {
    constexpr int kRows = Tile::kTileM * Tile::kClusterM;
    const Raster raster{.rows = (groups_.m + kRows - 1) / kRows,
                        .columns = (groups_.n + Tile::kTileN - 1) / Tile::kTileN,
                        .band = groups_.band};
    at.group = index_ / raster.count();
    if (at.group >= groups_.groups) return false;
    const TilePosition position = raster.at(index_ % raster.count());
    index_ += static_cast<int>(gridDim.x) / Tile::kClusterSize;
    const int rank = static_cast<int>(ptx::cluster_cta_rank());
    at.row = (position.m * Tile::kClusterM + rank) * Tile::kTileM;
    at.column = position.n * Tile::kTileN;
    // Ends that cannot be are taken as the nearest that can.
    while (group_ < at.group) {
      begin_ = end_;
      end_ = min(max(groups_.sizes[++group_], begin_), groups_.rows);
    }
    at.begin = begin_;
    at.end = end_;
    return true;
  }

 private:
  const GroupsSm90& groups_;
  int group_ = -1, begin_ = 0, end_ = 0;  // rows of the group
  int index_;
};

// Zeros in rows `from` to 63 of a stage, by both consumers; then all of them see it, and wgmma.
template <class Tile>
__device__ void clear_rows(std::uint8_t* a, std::uint8_t* b, int from) {
  const int thread = static_cast<int>(threadIdx.x) - 128;
  const auto clear = [&](std::uint8_t* operand, int blocks) {
    for (int i = thread; i < blocks * (64 - from) * 8; i += Tile::kConsumers * 128) {
      const int chunk = i % 8, row = from + i / 8 % (64 - from), block = i / 8 / (64 - from);
      *reinterpret_cast<uint4*>(operand + block * kBytesBlockMnMajor + row * 128 + chunk * 16) = {};
    }
  };
  clear(a, Tile::kTileM / 64);
  clear(b, Tile::kTileN / 64);
  ptx::fence_proxy_async_shared();
  ptx::named_barrier_sync(1, Tile::kConsumers * 128);
}

template <class Tile>
__device__ __forceinline__ void load_gradient(const GroupedMapsSm90& maps, const GroupsSm90& groups,
                                              std::uint8_t* shared, ptx::Mbarrier* full,
                                              ptx::Mbarrier* empty, int rank) {
  constexpr int kShareB = Tile::kTileN / Tile::kClusterM;
  constexpr auto kEverybody = static_cast<std::uint16_t>((1u << Tile::kClusterM) - 1);
  GradientTilesSm90<Tile> tiles(groups);
  typename GradientTilesSm90<Tile>::Place at;
  int stage = 0;
  std::uint32_t parity = 1;
  while (tiles.next(at)) {
    for (int row = at.begin; row < at.end; row += Tile::kTileK) {
      std::uint8_t* const a = shared + stage * Tile::kBytesA;
      std::uint8_t* const b =
          shared + Tile::kStagesB + stage * Tile::kBytesB + rank * kShareB * 128;
      ptx::mbarrier_wait_parity(&empty[stage], parity);
      ptx::mbarrier_arrive_expect_tx(&full[stage], Tile::kBytesA + Tile::kBytesB);
#pragma unroll
      for (int block = 0; block < Tile::kTileM / 64; ++block)
        ptx::tma_load_2d(a + block * kBytesBlockMnMajor, &maps.a, &full[stage], at.row + block * 64,
                         row);
#pragma unroll
      for (int block = 0; block < kShareB / 64; ++block) {
        const int column = at.column + rank * kShareB + block * 64;
        if constexpr (Tile::kClusterM > 1) {
          ptx::tma_load_2d_multicast(b + block * kBytesBlockMnMajor, &maps.b, &full[stage],
                                     kEverybody, column, row);
        } else {
          ptx::tma_load_2d(b + block * kBytesBlockMnMajor, &maps.b, &full[stage], column, row);
        }
      }
      if (++stage == Tile::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
  }
}

// A consumer's 64 rows of all tiles.
template <class Tile>
__device__ __forceinline__ void multiply_gradient(const GroupedMapsSm90& maps,
                                                  const GroupsSm90& groups, std::uint8_t* shared,
                                                  ptx::Mbarrier* full, ptx::Mbarrier* empty,
                                                  int consumer) {
  const int thread = threadIdx.x % 128, warp = thread / 32;
  std::uint8_t* const stores = shared + Tile::kStores + (consumer * 4 + warp) * 2 * kBytesStoreSm90;
  const std::uint32_t origin = ptx::shared_address(shared);
  const std::uint64_t origin_a = ptx::encode_mn_major_128b(origin + consumer * kBytesBlockMnMajor);
  const std::uint64_t origin_b = ptx::encode_mn_major_128b(origin + Tile::kStagesB);
  // Thread r of each consumer tells CTA r.
  const auto release = [&](int released) {
    if (thread >= Tile::kClusterSize) return;
    if constexpr (Tile::kClusterSize > 1) {
      ptx::mbarrier_arrive_remote(&empty[released], thread);
    } else {
      ptx::mbarrier_arrive(&empty[released]);
    }
  };
  GradientTilesSm90<Tile> tiles(groups);
  typename GradientTilesSm90<Tile>::Place at;
  int stage = 0;
  std::uint32_t parity = 0;
  while (tiles.next(at)) {
    float d[Tile::kTileN / 2];
    if (at.begin == at.end) {
#pragma unroll
      for (int i = 0; i < Tile::kTileN / 2; ++i) d[i] = 0;
    }
    int previous = 0;
    for (int row = at.begin; row < at.end; row += Tile::kTileK) {
      ptx::mbarrier_wait_parity(&full[stage], parity);
      if (at.end - row < Tile::kTileK)
        clear_rows<Tile>(shared + stage * Tile::kBytesA,
                         shared + Tile::kStagesB + stage * Tile::kBytesB, at.end - row);
      const std::uint64_t a = ptx::advance(origin_a, stage * Tile::kBytesA);
      const std::uint64_t b = ptx::advance(origin_b, stage * Tile::kBytesB);
      ptx::wgmma_fence();
#pragma unroll
      for (int k = 0; k < 4; ++k)  // 16 rows of 128 bytes
        ptx::wgmma<ptx::WgmmaTypes::bf16, 1, 1>(
            d, ptx::advance(a, k * 2048), ptx::advance(b, k * 2048), row != at.begin || k != 0);
      ptx::wgmma_commit();
      ptx::wgmma_wait<1>();
      if (row != at.begin) release(previous);
      previous = stage;
      if (++stage == Tile::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
    ptx::wgmma_wait<0>();
    if (at.begin != at.end) release(previous);
    ptx::wgmma_pin(d);
    // Rows of all groups' D lie below each other.
    const int first = at.group * groups.m;
    const RowEdgeSm90 edge{first + groups.m, groups.d, groups.n};
#pragma unroll
    for (int c = 0; c < Tile::kTileN / 64; ++c)
      store_64_columns_sm90<2>(&maps.d, d + c * 32, stores + c % 2 * kBytesStoreSm90,
                               first + at.row + consumer * 64 + warp * 16, at.column + c * 64,
                               edge);
  }
  if (thread % 32 == 0) ptx::bulk_wait_read<0>();
}

// Template arguments are GroupedTileBf16Sm90's.
template <int kTileN, int kStages, int kClusterM, int kClusterN>
__global__ void __cluster_dims__(kClusterM* kClusterN, 1, 1) __launch_bounds__(384, 1)
    grouped_k_bf16_sm90(const __grid_constant__ GroupedMapsSm90 maps,
                        const __grid_constant__ GroupsSm90 groups) {
  using Tile = GroupedTileBf16Sm90<kTileN, kStages, kClusterM, kClusterN>;
  static_assert(Tile::kThreads == 384 && kTileN == 256 && kClusterN == 1);
  extern __shared__ __align__(1024) std::uint8_t shared[];
  auto* const full = reinterpret_cast<ptx::Mbarrier*>(shared + Tile::kBarriers);
  ptx::Mbarrier* const empty = full + Tile::kStages;
  const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int rank = static_cast<int>(ptx::cluster_cta_rank());
  if (threadIdx.x == 0) {
    ptx::tma_prefetch_map(&maps.a);
    ptx::tma_prefetch_map(&maps.b);
    ptx::tma_prefetch_map(&maps.d);
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], Tile::kClusterM * Tile::kConsumers);
    }
    ptx::fence_mbarrier_init();
  }
  if constexpr (Tile::kClusterSize > 1) {
    ptx::cluster_sync();
  } else {
    __syncthreads();
  }
  if (warpgroup == 0) {
    ptx::setmaxnreg_decrease<Tile::kProducerRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one())
      load_gradient<Tile>(maps, groups, shared, full, empty, rank);
  } else {
    ptx::setmaxnreg_increase<Tile::kConsumerRegisters>();
    multiply_gradient<Tile>(maps, groups, shared, full, empty, warpgroup - 1);
  }
  // Nobody may leave while a neighbour can still signal its barriers.
  if constexpr (Tile::kClusterSize > 1) {
    __syncwarp();
    ptx::cluster_arrive_relaxed();
    ptx::cluster_wait();
  }
}

}  // namespace assay::kernels

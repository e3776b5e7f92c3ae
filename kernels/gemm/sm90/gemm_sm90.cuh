// SPDX-License-Identifier: Apache-2.0
// The matrix product on Hopper: D = A B, f32 accumulation, of 16-bit and 8-bit floating-point
// types. pipeline_sm90.cuh says how it is done; here is which work there is (schedule_sm90.hpp),
// how workers share the sum of a tile, and what becomes of the sums.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "harness/ptx/cache_policy.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "kernels/gemm/sm90/arguments_sm90.hpp"
#include "kernels/gemm/sm90/c_sm90.cuh"
#include "kernels/gemm/sm90/epilogue_sm90.cuh"
#include "kernels/gemm/sm90/pipeline_sm90.cuh"
#include "kernels/gemm/sm90/plain_results_sm90.cuh"
#include "kernels/gemm/sm90/schedule_sm90.hpp"
#include "kernels/gemm/sm90/tile_sm90.cuh"

namespace assay::kernels {

// Leaves a share of a tile in this CTA's slot: accumulators in groups of four, so that the threads
// of a warp write without gaps. Whoever waits for it, unless that is a kernel after this one, must
// be told then (tell_partial).
template <class Tile>
__device__ void leave_partial(const GemmArgumentsSm90& args, int slot, int consumer,
                              const float (&d)[Tile::kBlocks][Tile::kTileN / 2]) {
  const int thread = threadIdx.x % 128;
  constexpr int kGroups = Tile::kBlocks * Tile::kTileN / 8;
  float4* const to = reinterpret_cast<float4*>(args.partials) +
                     (std::int64_t{slot} * Tile::kSharing + consumer) * kGroups * 128;
#pragma unroll
  for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
    for (int j = 0; j < Tile::kTileN / 8; ++j) {
      to[(block * (Tile::kTileN / 8) + j) * 128 + thread] = {
          d[block][4 * j], d[block][4 * j + 1], d[block][4 * j + 2], d[block][4 * j + 3]};
    }
  }
}

template <class Tile>
__device__ void tell_partial(const GemmArgumentsSm90& args, int slot, int consumer, int barrier) {
  ptx::named_barrier_sync(barrier, 128);
  if (threadIdx.x % 128 == 0) ptx::increment_release(&args.flags[slot * Tile::kSharing + consumer]);
  // What follows keeps the walk in registers of the warp. Without this, the lane that signals came
  // later than the others and took a step of its own (ptxas 13.0).
  __syncwarp();
}

// Adds what `count` other CTAs left, of every cluster before this one its CTA of this rank, from
// `slot` downward. Waits until all of it is there, and clears the flags for the next launch.
//
// An L2 access takes some 700 cycles, a tile's share a few more: with one share after the other
// each costs that and as much again for its flag. So the flags are waited for at once, a thread
// each, and as many shares as registers hold are on their way together.
template <class Tile>
__device__ void add_partials(const GemmArgumentsSm90& args, int slot, int count, int consumer,
                             int barrier, float (&d)[Tile::kBlocks][Tile::kTileN / 2]) {
  constexpr int kPerBlock = Tile::kTileN / 8, kGroups = Tile::kBlocks * kPerBlock;
  // Groups that registers hold beside the sums, and beside the results that are not written yet.
  constexpr int kRoom = 46 - kGroups - (Tile::kDeferred ? kGroups / 2 : 0);
  constexpr int kTogether = kRoom >= 4 * kGroups ? 4 : kRoom >= 2 * kGroups ? 2 : 1;
  const int thread = threadIdx.x % 128;
  for (int i = thread; i < count; i += 128) {
    std::uint32_t* const flag =
        &args.flags[(slot - i * Tile::kClusterSize) * Tile::kSharing + consumer];
    while (ptx::load_acquire(flag) == 0) {
    }
    ptx::store_relaxed(flag, 0);
  }
  ptx::named_barrier_sync(barrier, 128);
  const auto share = [&](int before) {
    return reinterpret_cast<const uint4*>(args.partials) + thread +
           (std::int64_t{slot - before * Tile::kClusterSize} * Tile::kSharing + consumer) *
               (kGroups * 128);
  };
  const auto add = [&](int group, uint4 part) {
    float* const sums = &d[group / kPerBlock][4 * (group % kPerBlock)];
    sums[0] += __uint_as_float(part.x);
    sums[1] += __uint_as_float(part.y);
    sums[2] += __uint_as_float(part.z);
    sums[3] += __uint_as_float(part.w);
  };
  if constexpr (kTogether > 1) {
    while (count > 1) {
      uint4 parts[kTogether][kGroups];
#pragma unroll
      for (int before = 0; before < kTogether; ++before) {
        if (before >= count) break;
#pragma unroll
        for (int group = 0; group < kGroups; ++group)
          parts[before][group] = ptx::load_v4_l2(&share(before)[group * 128]);
      }
#pragma unroll
      for (int before = 0; before < kTogether; ++before) {
        if (before >= count) break;
#pragma unroll
        for (int group = 0; group < kGroups; ++group) add(group, parts[before][group]);
      }
      count -= kTogether;
      slot -= kTogether * Tile::kClusterSize;
    }
  }
  for (; count > 0; --count, slot -= Tile::kClusterSize) {
    const uint4* const from = share(0);
#pragma unroll
    for (int group = 0; group < kGroups; ++group) add(group, ptx::load_v4_l2(&from[group * 128]));
  }
}

// The Work of multiply_tiles() for one dense product. kSplits: its tiles may be in parts.
template <class Tile, bool kSplits = false>
class DenseWorkSm90 {
 public:
  using Arguments = GemmArgumentsSm90;
  static constexpr bool kRaggedK = false, kClipped = false, kEdges = true;
  static constexpr bool kUnitsInMemory = false;
  static constexpr bool kEitherType = Tile::kElementBytes == 2, kAddsC = !kSplits;

  // After parts comes the kernel that adds them. Where its CTAs came as SMs became free, 187
  // choices for few long sums took 3.5% longer in the mean on an H200, 512x512x8192 in four
  // parts 16.5 us and not 14.8 (results/h200/2026-11-28-parts, early and late).
  __device__ static bool lets_next_in(const GemmArgumentsSm90& args) {
    return !kSplits || args.schedule.parts == 1;
  }

  __device__ DenseWorkSm90(const GemmArgumentsSm90& args, int rank_m, int rank_n)
      : args_(args), rank_m_(rank_m), rank_n_(rank_n), walk_(args.schedule, worker()) {
    if (kSplits && args.schedule.parts > 1) place_ = walk_.take_part(worker());
  }

  __device__ static FirstLoads first_loads(const GemmArgumentsSm90& args, int rank_m, int rank_n) {
    const auto [tile, k_begin, count] = args.first.of(worker());
    return {place(tile, rank_m, rank_n), k_begin, count};
  }
  __device__ int first_steps_sent(const WorkUnit&) const { return args_.first.of(worker()).count; }

  __device__ bool next(WorkUnit& unit) { return walk_.next(unit); }

  __device__ const StepMeeting& meeting() const { return args_.meeting; }

  __device__ int rows() const { return args_.rows; }
  __device__ int columns() const { return args_.columns; }

  __device__ std::uint64_t policy_p() const {
    return args_.p_read_once ? ptx::create_policy<ptx::Eviction::first>() : 0;
  }

  __device__ OperandPlace operands(const WorkUnit& unit) const {
    return place(args_.schedule.raster.at(unit.tile), rank_m_, rank_n_);
  }
  __device__ ResultPlace results(const WorkUnit& unit) const {
    const OperandPlace at = operands(unit);
    return {at.row, at.column, 0};
  }

  __device__ bool shares(const WorkUnit& unit, float (&d)[Tile::kBlocks][Tile::kTileN / 2],
                         int consumer, int barrier) const {
    const GemmSchedule& schedule = args_.schedule;
    const bool part = kSplits && schedule.parts > 1;
    if (unit.k_end < schedule.k_steps || part) {
      const int slot = part ? place_ * Tile::kClusterSize + rank() : static_cast<int>(blockIdx.x);
      leave_partial<Tile>(args_, slot, consumer, d);
      if (!part) tell_partial<Tile>(args_, slot, consumer, barrier);
      return true;
    }
    // The others that have steps of this tile precede me, and what each left is of this tile.
    if (unit.k_begin > 0) {
      const int tile_begin = unit.tile * schedule.k_steps, me = worker();
      int others = 0;
      while (others < me && schedule.range_begin(me - others) > tile_begin) ++others;
      add_partials<Tile>(args_, (me - 1) * Tile::kClusterSize + rank(), others, consumer, barrier,
                         d);
    }
    return false;
  }

  __device__ bool plain() const { return args_.plain != 0; }

  __device__ float factor() const { return common_factor(args_); }

  __device__ LinesSm90<Tile> lines(const ResultPlace& at) const {
    return load_lines<Tile>(args_, at.row, at.column);
  }

  __device__ void scale(float (&d)[Tile::kBlocks][Tile::kTileN / 2], const LinesSm90<Tile>& lines,
                        float factor) const {
    scale_tile<Tile>(d, args_, lines, factor);
  }
  // C goes to the worker that ends the tile.
  __device__ int boxes_of_c(const WorkUnit& unit) const {
    if (!args_.adds_c || unit.k_end < args_.schedule.k_steps) return 0;
    return wide() ? CTileSm90<Tile>::boxes(true) : CTileSm90<Tile>::boxes(false);
  }
  __device__ void add(float (&d)[Tile::kBlocks][Tile::kTileN / 2],
                      const CInRingSm90<Tile>& c) const {
    add_c<Tile>(d, c, args_);
  }
  __device__ void activate(float (&d)[Tile::kBlocks][Tile::kTileN / 2]) const {
    if (args_.activation != 0) activate_tile<Tile>(d, args_.activation);
  }

  __device__ bool half_operands() const { return args_.half_operands != 0; }
  __device__ bool wide() const { return args_.type == OutputType::f32; }
  __device__ bool half() const { return args_.type == OutputType::f16; }

 protected:
  const GemmArgumentsSm90& args_;

 private:
  __device__ static int worker() { return ptx::cta_index_x() / Tile::kClusterSize; }

  __device__ static OperandPlace place(const TilePosition& at, int rank_m, int rank_n) {
    return {(at.m * Tile::kClusterM + rank_m) * Tile::kTileM,
            (at.n * Tile::kClusterN + rank_n) * Tile::kTileN, 0};
  }

  __device__ int rank() const { return rank_m_ * Tile::kClusterN + rank_n_; }

  int rank_m_, rank_n_;
  WorkWalk walk_;
  int place_ = 0;  // of a part
};

// The same for products whose sums are rounded as they are: a quarter of the machine code.
template <class Tile>
class PlainWorkSm90 : public DenseWorkSm90<Tile, true>, public PlainResultsSm90 {
 public:
  using DenseWorkSm90<Tile, true>::DenseWorkSm90;
  using PlainResultsSm90::plain, PlainResultsSm90::factor, PlainResultsSm90::lines,
      PlainResultsSm90::scale, PlainResultsSm90::activate, PlainResultsSm90::wide;
};

// The same for sums to which factors are applied before they are rounded, and nothing else: what
// products of 8-bit types ask for.
template <class Tile>
class ScaledWorkSm90 : public DenseWorkSm90<Tile, true> {
 public:
  using DenseWorkSm90<Tile, true>::DenseWorkSm90;

  __device__ static constexpr bool plain() { return false; }
  __device__ LinesSm90<Tile> lines(const ResultPlace& at) const {
    return load_lines<Tile, false>(args_, at.row, at.column);
  }
  __device__ void scale(float (&d)[Tile::kBlocks][Tile::kTileN / 2], const LinesSm90<Tile>& lines,
                        float factor) const {
    scale_tile<Tile, false>(d, args_, lines, factor);
  }
  template <class Sums>
  __device__ static void activate(const Sums&) {}
  __device__ static constexpr bool wide() { return false; }

 private:
  using DenseWorkSm90<Tile, true>::args_;
};

// Template arguments are GemmTileSm90's. Types of bf16 stand for f16 as well: arguments say which.
template <int kTypes, int kMajorP, int kMajorQ, int kTileM, int kTileN, int kStages, int kClusterM,
          int kClusterN, bool kSwapped, bool kPingpong>
__global__ void __cluster_dims__(kClusterM* kClusterN, 1, 1) __launch_bounds__(384, 1)
    gemm_sm90(const __grid_constant__ CUtensorMap map_p, const __grid_constant__ CUtensorMap map_q,
              const __grid_constant__ CUtensorMap map_d, const __grid_constant__ CUtensorMap edge_p,
              const __grid_constant__ CUtensorMap edge_q, const __grid_constant__ CUtensorMap map_c,
              const __grid_constant__ GemmArgumentsSm90 args) {
  using Tile = GemmTileSm90<kTypes, kMajorP, kMajorQ, kTileM, kTileN, kStages, kClusterM, kClusterN,
                            kSwapped, kPingpong>;
  multiply_tiles<Tile, DenseWorkSm90<Tile>>(map_p, map_q, map_d, edge_p, edge_q, &map_c, args);
}

template <int kTypes, int kMajorP, int kMajorQ, int kTileM, int kTileN, int kStages, int kClusterM,
          int kClusterN, bool kSwapped, bool kPingpong>
__global__ void __cluster_dims__(kClusterM* kClusterN, 1, 1) __launch_bounds__(384, 1)
    gemm_plain_sm90(const __grid_constant__ CUtensorMap map_p,
                    const __grid_constant__ CUtensorMap map_q,
                    const __grid_constant__ CUtensorMap map_d,
                    const __grid_constant__ CUtensorMap edge_p,
                    const __grid_constant__ CUtensorMap edge_q,
                    const __grid_constant__ GemmArgumentsSm90 args) {
  using Tile = GemmTileSm90<kTypes, kMajorP, kMajorQ, kTileM, kTileN, kStages, kClusterM, kClusterN,
                            kSwapped, kPingpong>;
  using Work =
      std::conditional_t<Tile::kElementBytes == 1, ScaledWorkSm90<Tile>, PlainWorkSm90<Tile>>;
  multiply_tiles<Tile, Work>(map_p, map_q, map_d, edge_p, edge_q, nullptr, args);
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The matrix product on Hopper: D = A B, f32 accumulation, of 16-bit and 8-bit floating-point
// types.
//
// Persistent clusters of warp-specialized CTAs. Warpgroup 0 gives its registers away and one of its
// threads loads: boxes of P and Q, 128 bytes deep along k, into a ring of kStages buffers. Two
// consumer warpgroups multiply, each its own half of the tile's rows, and write their part of the
// result while the loader is already filling the ring for the next tile.
//
// Clusters share operands. CTAs of one cluster row work on the same rows of P, CTAs of one cluster
// column on the same columns of Q. Each loads only its share of such a tile and multicasts it, so a
// 2 x 1 cluster of 128 x 256 tiles reads from L2 what a 256 x 256 tile would.
//
// The ring. full[s] ends a phase when all bytes of a stage have landed (whoever sent them).
// empty[s] ends a phase when every consumer warpgroup that reads a box this CTA sends has released
// it: the two of this CTA and the two of each CTA in the same cluster row or column. Stage and
// parity run on across units of work; producer and consumers step through the same sequence of
// units on their own.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "harness/ptx/cache_policy.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/wgmma.cuh"
#include "kernels/gemm/sm90/arguments_sm90.hpp"
#include "kernels/gemm/sm90/epilogue_sm90.cuh"
#include "kernels/gemm/sm90/schedule_sm90.hpp"
#include "kernels/gemm/sm90/tile_sm90.cuh"

namespace assay::kernels {

// Loads this CTA's share of an operand's box for the CTAs in `mask`. A k-major share is one box;
// else it is boxes of 64 rows (or columns) x 64 along k, 8192 bytes each. `policy` 0: none. (A
// policy of evict_normal is not the same as none: with it, loads were up to a quarter slower on an
// H200.)
template <int kMajor, int kShare, bool kMulticast, int kTileK>
__device__ inline void load_share(std::uint8_t* to, const CUtensorMap* map, ptx::Mbarrier* full,
                                  std::uint16_t mask, int k_step, int first, std::uint64_t policy) {
  constexpr int kBoxes = kMajor == 0 ? 1 : kShare / 64;
#pragma unroll
  for (int box = 0; box < kBoxes; ++box) {
    const int c0 = kMajor == 0 ? k_step * kTileK : first + box * 64;
    const int c1 = kMajor == 0 ? first : k_step * kTileK;
    if constexpr (kMulticast) {
      if (policy == 0) {
        ptx::tma_load_2d_multicast(to + box * 8192, map, full, mask, c0, c1);
      } else {
        ptx::tma_load_2d_multicast_hinted(to + box * 8192, map, full, mask, c0, c1, policy);
      }
    } else {
      if (policy == 0) {
        ptx::tma_load_2d(to + box * 8192, map, full, c0, c1);
      } else {
        ptx::tma_load_2d_hinted(to + box * 8192, map, full, c0, c1, policy);
      }
    }
  }
}

// Leaves a share of a tile in this CTA's slot: accumulators in groups of four, so that the threads
// of a warp write without gaps.
template <class Tile>
__device__ void leave_partial(const GemmArgumentsSm90& args, int slot, int consumer, int barrier,
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
  ptx::named_barrier_sync(barrier, 128);
  if (thread == 0) ptx::increment_release(&args.flags[slot * Tile::kSharing + consumer]);
}

// Adds what a CTA left, once it is there, and clears the flag for the next launch.
template <class Tile>
__device__ void add_partial(const GemmArgumentsSm90& args, int slot, int consumer, int barrier,
                            float (&d)[Tile::kBlocks][Tile::kTileN / 2]) {
  const int thread = threadIdx.x % 128;
  constexpr int kGroups = Tile::kBlocks * Tile::kTileN / 8;
  std::uint32_t* const flag = &args.flags[slot * Tile::kSharing + consumer];
  if (thread == 0) {
    while (ptx::load_acquire(flag) == 0) {
    }
    ptx::store_relaxed(flag, 0);
  }
  ptx::named_barrier_sync(barrier, 128);
  const uint4* const from = reinterpret_cast<const uint4*>(args.partials) +
                            (std::int64_t{slot} * Tile::kSharing + consumer) * kGroups * 128;
#pragma unroll
  for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
    for (int j = 0; j < Tile::kTileN / 8; ++j) {
      const uint4 part = ptx::load_v4_l2(&from[(block * (Tile::kTileN / 8) + j) * 128 + thread]);
      d[block][4 * j] += __uint_as_float(part.x);
      d[block][4 * j + 1] += __uint_as_float(part.y);
      d[block][4 * j + 2] += __uint_as_float(part.z);
      d[block][4 * j + 3] += __uint_as_float(part.w);
    }
  }
}

// Template arguments are GemmTileSm90's.
template <int kTypes, int kMajorP, int kMajorQ, int kTileM, int kTileN, int kStages, int kClusterM,
          int kClusterN, bool kSwapped, bool kPingpong>
__global__ void __cluster_dims__(kClusterM* kClusterN, 1, 1) __launch_bounds__(384, 1)
    gemm_sm90(const __grid_constant__ CUtensorMap map_p, const __grid_constant__ CUtensorMap map_q,
              const __grid_constant__ CUtensorMap map_d,
              const __grid_constant__ GemmArgumentsSm90 args) {
  using Tile = GemmTileSm90<kTypes, kMajorP, kMajorQ, kTileM, kTileN, kStages, kClusterM, kClusterN,
                            kSwapped, kPingpong>;
  static_assert(Tile::kThreads == 384);
  extern __shared__ __align__(1024) std::uint8_t shared[];
  std::uint8_t* const stages_p = shared;
  std::uint8_t* const stages_q = stages_p + Tile::kStages * Tile::kBytesP;
  std::uint8_t* const stores = stages_q + Tile::kStages * Tile::kBytesQ;
  auto* const full = reinterpret_cast<ptx::Mbarrier*>(stores + Tile::kBytesStores);
  ptx::Mbarrier* const empty = full + Tile::kStages;

  const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int rank = static_cast<int>(ptx::cluster_cta_rank());
  const int rank_m = rank / Tile::kClusterN;
  const int rank_n = rank % Tile::kClusterN;

  if (threadIdx.x == 0) {
    ptx::tma_prefetch_map(&map_p);
    ptx::tma_prefetch_map(&map_q);
    ptx::tma_prefetch_map(&map_d);
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], (Tile::kClusterM + Tile::kClusterN - 1) * Tile::kSharing);
    }
    ptx::fence_mbarrier_init();
  }
  if constexpr (Tile::kClusterSize > 1) {
    ptx::cluster_sync();
  } else {
    __syncthreads();
  }

  const int worker = static_cast<int>(blockIdx.x) / Tile::kClusterSize;
  WorkWalk walk(args.schedule, worker);
  WorkUnit unit;
  int stage = 0;
  std::uint32_t parity = 0;
  // Passes over the steps of a unit that is not mine.
  const auto skip = [&](int steps) {
    const int ahead = stage + steps;
    parity ^= ahead / Tile::kStages % 2;
    stage = ahead % Tile::kStages;
  };
  const auto next_stage = [&] {
    if (++stage == Tile::kStages) {
      stage = 0;
      parity ^= 1;
    }
  };

  if (warpgroup == 0) {
    ptx::setmaxnreg_decrease<Tile::kProducerRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one()) {
      // Who gets my share: bit r of a mask is CTA r.
      constexpr std::uint32_t kRowMask = (1u << Tile::kClusterN) - 1;
      std::uint32_t column_mask = 0;
      for (int r = 0; r < Tile::kClusterM; ++r) column_mask |= 1u << (r * Tile::kClusterN);
      const auto mask_p = static_cast<std::uint16_t>(kRowMask << (rank_m * Tile::kClusterN));
      const auto mask_q = static_cast<std::uint16_t>(column_mask << rank_n);

      const std::uint64_t policy_p =
          args.p_read_once ? ptx::create_policy<ptx::Eviction::first>() : 0;
      while (walk.next(unit)) {
        const TilePosition at = args.schedule.raster.at(unit.tile);
        const int row = (at.m * Tile::kClusterM + rank_m) * Tile::kTileM + rank_n * Tile::kShareP;
        const int column =
            (at.n * Tile::kClusterN + rank_n) * Tile::kTileN + rank_m * Tile::kShareQ;
        for (int ks = unit.k_begin; ks < unit.k_end; ++ks) {
          std::uint8_t* const p = stages_p + stage * Tile::kBytesP + rank_n * Tile::kShareP * 128;
          std::uint8_t* const q = stages_q + stage * Tile::kBytesQ + rank_m * Tile::kShareQ * 128;
          ptx::mbarrier_wait_parity(&empty[stage], parity ^ 1);
          ptx::mbarrier_arrive_expect_tx(&full[stage], Tile::kBytesP + Tile::kBytesQ);
          load_share<Tile::kMajorP, Tile::kShareP, (Tile::kClusterN > 1), Tile::kTileK>(
              p, &map_p, &full[stage], mask_p, ks, row, policy_p);
          load_share<Tile::kMajorQ, Tile::kShareQ, (Tile::kClusterM > 1), Tile::kTileK>(
              q, &map_q, &full[stage], mask_q, ks, column, 0);
          next_stage();
        }
      }
    }
  } else {
    ptx::setmaxnreg_increase<Tile::kConsumerRegisters>();
    // My part of a tile's rows, and what my warpgroup waits at for itself.
    const int consumer = Tile::kPingpong ? 0 : warpgroup - 1;
    const int barrier = warpgroup;
    const int thread = threadIdx.x % 128;
    const int warp = thread / 32;
    std::uint8_t* const store_buffers =
        stores + ((warpgroup - 1) * 4 + warp) * 2 * Tile::kBytesStore;
    int next_buffer = 0;

    // Thread r of each consumer tells CTA r, if that CTA sends boxes here.
    const bool tells = thread < Tile::kClusterSize &&
                       (thread / Tile::kClusterN == rank_m || thread % Tile::kClusterN == rank_n);
    const auto release = [&](int released) {
      if (!tells) return;
      if constexpr (Tile::kClusterSize > 1) {
        ptx::mbarrier_arrive_remote(&empty[released], thread);
      } else {
        ptx::mbarrier_arrive(&empty[released]);
      }
    };

    // From one MMA along k to the next: 32 bytes of a k-major row, else 16 rows of 128 bytes.
    constexpr int kStepP = Tile::kMajorP == 0 ? 32 : 2048;
    constexpr int kStepQ = Tile::kMajorQ == 0 ? 32 : 2048;
    // 64 rows are 8192 bytes either way.
    const std::uint32_t address_p = ptx::shared_address(stages_p) + consumer * Tile::kBlocks * 8192;
    const std::uint32_t address_q = ptx::shared_address(stages_q);
    const std::uint64_t origin_p = Tile::kMajorP == 0 ? ptx::encode_k_major_128b(address_p)
                                                      : ptx::encode_mn_major_128b(address_p);
    const std::uint64_t origin_q = Tile::kMajorQ == 0 ? ptx::encode_k_major_128b(address_q)
                                                      : ptx::encode_mn_major_128b(address_q);

    float d[Tile::kBlocks][Tile::kTileN / 2];
    const auto multiply = [&](bool first_step) {
      ptx::mbarrier_wait_parity(&full[stage], parity);
      const std::uint64_t p = ptx::advance(origin_p, stage * Tile::kBytesP);
      const std::uint64_t q = ptx::advance(origin_q, stage * Tile::kBytesQ);
      ptx::wgmma_fence();
#pragma unroll
      for (int k = 0; k < Tile::kSteps; ++k) {
#pragma unroll
        for (int block = 0; block < Tile::kBlocks; ++block) {
          ptx::wgmma<Tile::kTypes, Tile::kMajorP, Tile::kMajorQ>(
              d[block], ptx::advance(p, block * 8192 + k * kStepP), ptx::advance(q, k * kStepQ),
              !first_step || k != 0);
        }
      }
      ptx::wgmma_commit();
    };

    std::uint32_t packed[Tile::kBlocks][Tile::kTileN / 4];
    int row = 0, column = 0;  // of this warp's first block of the tile that is kept in `packed`
    const auto store = [&] {
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block)
        store_block<Tile>(&map_d, packed[block], store_buffers, next_buffer, row + block * 64,
                          column);
    };
    bool kept = false;

    // A ping-pong's consumers take turns at the ring. Who came too early would take a stage's
    // former phase for its own: parity does not tell phases apart that are two apart.
    constexpr int kTurn = 3;  // named barriers 3 and 4: the first and the second consumer's turn
    for (int index = 0; walk.next(unit); ++index) {
      if constexpr (Tile::kPingpong) {
        if (index % 2 != warpgroup - 1) {
          skip(unit.k_end - unit.k_begin);
          continue;
        }
        if (index > 0) ptx::named_barrier_sync(kTurn + index % 2, 256);
      }
      int ks = unit.k_begin + 1;
      multiply(true);
      int previous = stage;
      next_stage();
      if (Tile::kDeferred && kept) {
        // Two steps under way, if there are two, cover the time of the stores.
        if (ks < unit.k_end) {
          multiply(false);
          store();
          ptx::wgmma_wait<1>();
          release(previous);
          previous = stage;
          next_stage();
          ++ks;
        } else {
          store();
        }
        kept = false;
      }
      for (; ks < unit.k_end; ++ks) {
        multiply(false);
        ptx::wgmma_wait<1>();
        release(previous);
        previous = stage;
        next_stage();
      }
      if constexpr (Tile::kPingpong) {
        WorkWalk ahead = walk;
        WorkUnit following;
        if (ahead.next(following)) ptx::named_barrier_arrive(kTurn + (index + 1) % 2, 256);
      }
      ptx::wgmma_wait<0>();
      release(previous);
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) ptx::wgmma_pin(d[block]);

      if (unit.k_end < args.schedule.k_steps) {
        leave_partial<Tile>(args, static_cast<int>(blockIdx.x), consumer, barrier, d);
        continue;
      }
      // The others that have steps of this tile precede me, and what each left is of this tile.
      if (unit.k_begin > 0) {
        const int tile_begin = unit.tile * args.schedule.k_steps;
        for (int other = worker - 1;
             other >= 0 && args.schedule.range_begin(other + 1) > tile_begin; --other)
          add_partial<Tile>(args, other * Tile::kClusterSize + rank, consumer, barrier, d);
      }

      const TilePosition at = args.schedule.raster.at(unit.tile);
      const float factor = common_factor(args);
      row = (at.m * Tile::kClusterM + rank_m) * Tile::kTileM + consumer * Tile::kBlocks * 64 +
            warp * 16;
      column = (at.n * Tile::kClusterN + rank_n) * Tile::kTileN;
      if (args.general) {
#pragma unroll
        for (int block = 0; block < Tile::kBlocks; ++block)
          store_general<Tile>(args, d[block], reinterpret_cast<float*>(store_buffers), factor,
                              row + block * 64, column);
        continue;
      }
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) {
        scale_block<Tile>(d[block], args, factor, row + block * 64, column);
        pack_block<Tile>(packed[block], d[block]);
      }
      if constexpr (Tile::kDeferred) {
        kept = true;
      } else {
        store();
      }
    }
    if (Tile::kDeferred && kept) store();
    if (thread % 32 == 0) ptx::bulk_wait_read<0>();
  }

  // Nobody may leave while a neighbour can still signal its barriers.
  if constexpr (Tile::kClusterSize > 1) {
    __syncwarp();
    ptx::cluster_arrive_relaxed();
    ptx::cluster_wait();
  }
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// How CTAs of the Hopper matrix products load, multiply and store: the one way for all of them.
//
// Persistent clusters of warp-specialized CTAs. Warpgroup 0 gives its registers away and one of its
// threads loads: boxes of P and Q, 128 bytes deep along k, one or two of each to a stage of a ring
// of kStages. Two consumer warpgroups multiply, each its own half of the tile's rows, and write
// their part of the result while the loader is already filling the ring for the next tile.
//
// Clusters share operands. CTAs of one cluster row work on the same rows of P, CTAs of one cluster
// column on the same columns of Q. Each loads only its share of such a tile (GemmTileSm90::kShareP,
// kShareQ) and multicasts it, so a 2 x 1 cluster of 128 x 256 tiles reads from L2 what a 256 x 256
// tile would.
//
// The ring. full[s] ends a phase when all bytes of a stage have landed (whoever sent them).
// empty[s] ends a phase when every consumer warpgroup of the cluster has released it: not those
// alone that read a box this CTA sends. A CTA beyond the ends of P and Q gets no bytes, and would
// go on without the CTAs that are not in its row or column. Stage and parity run on across units of
// work; producer and consumers step through the same sequence of units on their own.
//
// What differs between products is their `Work`: which units a worker does, where each has its
// operands, its sum along k and its results. Loader and consumers each make one of
// Work(arguments, rank_m, rank_n), with the CTA's place in its cluster, and copy it to look ahead.
//
//   Arguments                 the kernel's parameter beside the tensor maps
//   kRaggedK                  a sum may end inside a step, and may have no step at all
//   kClipped                  map_d is that of store_block()'s clipped boxes
//   kEdges                    P ends after rows() and Q after columns(); boxes there are cut short
//   lets_next_in(arguments)   the next grid may come before this one ends
//   kUnitsInMemory            Work and its units follow from what memory holds, not from arguments
//   first_loads(arguments,    what a CTA loads before anything else: of the worker's first unit, up
//       rank_m, rank_n)       to kFirstStepsSm90 steps
//   first_steps_sent(unit)    how many these were; `unit` is the first
//   bool next(WorkUnit&)      the worker's next unit; false when nothing is left
//   policy_p()                the L2 policy of P's loads, 0: none
//   operands(unit)            where step 0 begins in the tensor maps
//   results(unit)             where the CTA's tile lies in D's map
//   clear_tail(...)           kRaggedK: zeros what a stage holds beyond the end of the sum
//   shares(unit, d, ...)      where workers divide a sum: leaves a part, and is true, or adds what
//                             others left
//   kEitherType               Tile::kTypes is bf16 and stands for f16 as well
//   half_operands()           kEitherType: operands are f16
//   half()                    results are f16, not bf16
//   plain()                   sums are rounded as they are; the rest is for sums that are not
//                             (PlainResultsSm90: never)
//   factor()                  of all results
//   lines(at)                 what scale() needs of a tile's rows and columns, loaded beforehand
//   scale(d, lines, factor)   applies factors and the bias
//   kAddsC                    C may be added after that; the loader brings it by map_c
//   boxes_of_c(unit)          kAddsC: how many boxes of C the unit has (c_sm90.cuh); 0: none
//   add(d, c)                 kAddsC: adds them
//   activate(d)               applies the activation, last
//   wide()                    results, and C, are f32
#pragma once
#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/setmaxnreg.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/wgmma.cuh"
#include "kernels/gemm/sm90/c_sm90.cuh"
#include "kernels/gemm/sm90/loader_sm90.cuh"
#include "kernels/gemm/sm90/schedule_sm90.hpp"
#include "kernels/gemm/sm90/store_sm90.cuh"
#include "kernels/gemm/sm90/tile_sm90.cuh"

namespace assay::kernels {

// Of a CTA's tile in D's map: its first row and column, and where D's rows (swapped: the rows' k)
// end, which kClipped asks for.
struct ResultPlace {
  int row, column, end;
};

template <ptx::WgmmaTypes kTypes>
using TypesOf = std::integral_constant<ptx::WgmmaTypes, kTypes>;

// The body of a kernel of 384 threads. `Tile` is a GemmTileSm90. Boxes of edge_p and edge_q are the
// part of a k-major share that the operand's last rows fill (kernels/frame/edge.cuh); without
// kEdges they are not used, nor is map_c without kAddsC.
template <class Tile, class Work>
__device__ __forceinline__ void multiply_tiles(const CUtensorMap& map_p, const CUtensorMap& map_q,
                                               const CUtensorMap& map_d, const CUtensorMap& edge_p,
                                               const CUtensorMap& edge_q, const CUtensorMap* map_c,
                                               const typename Work::Arguments& args) {
  static_assert(Tile::kThreads == 384);
  static_assert(!Work::kRaggedK || Tile::kDepth == 1, "clear_tail() is for a box");
  extern __shared__ __align__(1024) std::uint8_t shared[];
  std::uint8_t* const stages_p = shared;
  std::uint8_t* const stages_q = stages_p + Tile::kStages * Tile::kBytesP;
  std::uint8_t* const stores = stages_q + Tile::kStages * Tile::kBytesQ;
  auto* const full = reinterpret_cast<ptx::Mbarrier*>(stores + Tile::kBytesStores);
  ptx::Mbarrier* const empty = full + Tile::kStages;

  const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int rank = Tile::kClusterSize == 1 ? 0 : static_cast<int>(ptx::cluster_cta_rank());
  const int rank_m = rank / Tile::kClusterN;
  const int rank_n = rank % Tile::kClusterN;

  // Threads of several warps: 0.3 us less on an H200 than one for all. (Lanes that make a barrier
  // each take 0.5 us more than one that makes all.) None is the loader's, for which all wait.
  if (threadIdx.x == 32) {
    ptx::tma_prefetch_map(&map_p);
    ptx::tma_prefetch_map(&map_q);
  } else if (threadIdx.x == 128) {
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], Tile::kClusterSize * Tile::kSharing);
    }
    ptx::fence_mbarrier_init();
  } else if (threadIdx.x == 64) {
    ptx::tma_prefetch_map(&map_d);
    if constexpr (Work::kEdges) {
      ptx::tma_prefetch_map(&edge_p);
      ptx::tma_prefetch_map(&edge_q);
    }
  } else if (Work::kAddsC && threadIdx.x == 96) {
    ptx::tma_prefetch_map(map_c);
  }
  // Nobody uses a barrier before all are made. What others must see is the barriers alone, which
  // their own fence is for: the arrival of cluster_sync() waits for all memory.
  if constexpr (Tile::kClusterSize > 1) {
    __syncwarp();
    ptx::cluster_arrive_relaxed();
  }
  if constexpr (Work::kUnitsInMemory) ptx::wait_for_dependencies();
  // The first loads come here: the others' code is elsewhere in the kernel, and a warp that goes
  // there for the first time waits for instructions. With the first step's here, its bytes came 440
  // to 1,140 cycles earlier on an H200 (results/h200/2026-11-29-first-steps, starts.csv).
  const FirstLoads first = Work::first_loads(args, rank_m, rank_n);
  if constexpr (Tile::kClusterSize > 1) {
    ptx::cluster_wait();
  } else {
    ptx::named_barrier_sync(0, Tile::kThreads);
  }
  if constexpr (!Work::kUnitsInMemory) ptx::wait_for_dependencies();
  if (first.count > 0 && threadIdx.x < 32) {
    if (ptx::elect_one())
      load_first_steps<Tile>(first, rank_m, rank_n, map_p, map_q, stages_p, stages_q, full);
  }
  // launch_kernel(): the next grid's CTAs come as this one's leave their SMs, whose shared memory
  // they take, and are set up while others still multiply.
  if (Work::lets_next_in(args)) ptx::launch_dependents();

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
    Work work(args, rank_m, rank_n);
    WorkUnit unit;
    const bool more = work.next(unit);
    ptx::setmaxnreg_decrease<Tile::kProducerRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one()) {
      load_units<Tile>(work, unit, more, work.policy_p(), rank_m, rank_n, map_p, map_q, edge_p,
                       edge_q, map_c, stages_p, stages_q, full, empty);
    }
  } else {
    ptx::setmaxnreg_increase<Tile::kConsumerRegisters>();
    // My part of a tile's rows, and what my warpgroup waits at for itself.
    // Not from `warpgroup`, which the compiler cannot make again and so keeps in a register.
    const int barrier = static_cast<int>(threadIdx.x / 128);
    const int consumer = Tile::kPingpong ? 0 : barrier - 1;
    const int thread = threadIdx.x % 128;
    const int warp = thread / 32;
    constexpr int kTogether = 32 * Tile::kStoreRows / 16;  // threads that have buffers in common
    std::uint8_t* const store_buffers =
        stores + (threadIdx.x - 128) / kTogether * Tile::kStoreBuffers * Tile::kBytesStore;
    int sent = 0;  // stores

    const bool tells = thread < Tile::kClusterSize;  // thread r of each consumer tells CTA r
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

    // Barriers 3 and 4: the first and the second consumer's turn at the ring, if they are a
    // ping-pong's, else 3 is both consumers'.
    constexpr int kTurn = 3, kBoth = 3;

    float d[Tile::kBlocks][Tile::kTileN / 2];
    Work work(args, rank_m, rank_n);
    const float factor = work.factor();
    WorkUnit unit;
    const auto multiply = [&](auto types, bool first_step, int ks) {
      // All lanes have the same stage, which the compiler does not see (ptxas 13.0): descriptors
      // that follow from it would be moved to uniform registers again for each MMA.
      const int at = __shfl_sync(0xffffffffu, stage, 0);
      ptx::mbarrier_wait_parity(&full[stage], parity);
      if constexpr (Work::kRaggedK) {
        work.clear_tail(ks, stages_p + stage * Tile::kBytesP, stages_q + stage * Tile::kBytesQ,
                        Tile::kPingpong ? barrier : kBoth);
      }
      const std::uint64_t p = ptx::advance(origin_p, at * Tile::kBytesP);
      const std::uint64_t q = ptx::advance(origin_q, at * Tile::kBytesQ);
      ptx::wgmma_fence();
#pragma unroll
      for (int k = 0; k < Tile::kDepth * Tile::kSteps; ++k) {
        const int box = k / Tile::kSteps, step = k % Tile::kSteps;
#pragma unroll
        for (int block = 0; block < Tile::kBlocks; ++block) {
          ptx::wgmma<types(), Tile::kMajorP, Tile::kMajorQ>(
              d[block], ptx::advance(p, box * Tile::kBoxBytesP + block * 8192 + step * kStepP),
              ptx::advance(q, box * Tile::kBoxBytesQ + step * kStepQ), !first_step || k != 0);
        }
      }
      ptx::wgmma_commit();
    };

    std::uint32_t packed[Tile::kBlocks][Tile::kTileN / 4];
    ResultPlace kept_at{};  // of this warp's first block of the tile that is kept in `packed`
    const auto row_of = [&](int block) {  // the first that leaves with this warp's
      return kept_at.row + block * 64 - (Tile::kSwapped ? warp * 16 : 0);
    };
    const auto store = [&] {
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block)
        store_block<Tile, Work::kClipped>(&map_d, packed[block], store_buffers, sent, row_of(block),
                                          kept_at.column, kept_at.end, barrier);
    };
    bool kept = false;
    // Where nothing is kept: else the compiler holds `packed` in registers beside the sums.
    const auto forget = [&] {
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
        for (int i = 0; i < Tile::kTileN / 4; ++i) packed[block][i] = 0;
      }
    };

    const auto stages_of_c = [&](const WorkUnit& of) {
      if constexpr (Work::kAddsC) {
        return CTileSm90<Tile>::stages(work.boxes_of_c(of));
      } else {
        return 0;
      }
    };

    // A ping-pong's consumers take turns at the ring. Who came too early would take a stage's
    // former phase for its own: parity does not tell phases apart that are two apart.
    int mine_in = warpgroup - 1;  // units from here to mine: 0 or 1
    for (bool first = true; work.next(unit); first = false, mine_in ^= 1) {
      if constexpr (Tile::kPingpong) {
        if (mine_in != 0) {
          skip(unit.k_end - unit.k_begin + stages_of_c(unit));
          continue;
        }
        if (!first) ptx::named_barrier_sync(kTurn + barrier - 1, 256);
      }
      const bool no_step = Work::kRaggedK && unit.k_begin == unit.k_end;
      int previous = stage;
      const auto sum = [&](auto types) {
        if (!no_step) {
          multiply(types, true, unit.k_begin);
          next_stage();
        }
        for (int ks = unit.k_begin + 1; ks < unit.k_end; ++ks) {
          multiply(types, false, ks);
          if (Tile::kDeferred && kept) {  // two steps under way cover the time of the stores
            store();
            kept = false;
          }
          ptx::wgmma_wait<1>();
          release(previous);
          previous = stage;
          next_stage();
        }
      };
      if constexpr (Work::kEitherType) {
        if (work.half_operands()) {
          sum(TypesOf<ptx::WgmmaTypes::f16>());
        } else {
          sum(TypesOf<ptx::WgmmaTypes::bf16>());
        }
      } else {
        sum(TypesOf<Tile::kTypes>());
      }
      if (Tile::kDeferred && kept) {
        store();
        kept = false;
      }
      const auto wait_for_c = [&] {
        for (int i = stages_of_c(unit); i > 0; --i) {
          ptx::mbarrier_wait_parity(&full[stage], parity);
          next_stage();
        }
      };
      if constexpr (Tile::kPingpong) {
        wait_for_c();
        Work ahead = work;
        WorkUnit following;
        if (ahead.next(following)) ptx::named_barrier_arrive(kTurn + 2 - barrier, 256);
      }
      kept_at = work.results(unit);
      kept_at.row += consumer * Tile::kBlocks * 64 + warp * 16;
      const auto lines = work.lines(kept_at);
      ptx::wgmma_wait<0>();
      if (!no_step) release(previous);
      if constexpr (!Tile::kPingpong) wait_for_c();
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) ptx::wgmma_pin(d[block]);
      if (no_step) {
#pragma unroll
        for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
          for (int i = 0; i < Tile::kTileN / 2; ++i) d[block][i] = 0;
        }
      }

      if (work.shares(unit, d, consumer, barrier)) {
        forget();
        continue;
      }
      if (!work.plain()) {
        work.scale(d, lines, factor);
        if constexpr (Work::kAddsC) {
          if (const int of_c = stages_of_c(unit); of_c > 0) {
            int of = stage < of_c ? stage - of_c + Tile::kStages : stage - of_c;  // the first
            work.add(d, CInRingSm90<Tile>{stages_p, stages_q, of, consumer});
            ptx::fence_proxy_async_shared();  // TMA writes there next
            ptx::named_barrier_sync(barrier, 128);
            do {
              release(of);
              of = of + 1 == Tile::kStages ? 0 : of + 1;
            } while (of != stage);
          }
        }
        work.activate(d);
        if (work.wide()) {
#pragma unroll
          for (int block = 0; block < Tile::kBlocks; ++block)
            store_f32<Tile>(&map_d, d[block], store_buffers, sent, row_of(block), kept_at.column,
                            barrier);
          forget();
          continue;
        }
      }
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block)
        pack_block<Tile>(packed[block], d[block], work.half());
      if constexpr (Tile::kDeferred) {
        kept = true;
      } else {
        store();
      }
    }
    if (Tile::kDeferred && kept) store();
    if (thread % 32 == 0) ptx::bulk_wait_read<0>();
  }
}

}  // namespace assay::kernels

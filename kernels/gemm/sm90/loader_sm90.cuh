// SPDX-License-Identifier: Apache-2.0
// What fills the ring of the Hopper matrix products (pipeline_sm90.cuh).
#pragma once
#include <cuda.h>

#include <cstdint>

#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/tma.cuh"
#include "kernels/frame/load_share.cuh"
#include "kernels/frame/workers/step_meeting.cuh"
#include "kernels/gemm/sm90/c_sm90.cuh"
#include "kernels/gemm/sm90/schedule_sm90.hpp"

namespace assay::kernels {

// A tile's first row of P and first column of Q in their tensor maps, and step 0's first element
// along k.
struct OperandPlace {
  int row, column, k;
};

// The loads of one unit by a CTA: its shares of P and Q, for all that they are sent to.
template <class Tile>
class UnitLoadsSm90 {
 public:
  __device__ UnitLoadsSm90(const OperandPlace& at, int rank_m, int rank_n, std::uint64_t policy_p,
                           std::uint8_t* stages_p, std::uint8_t* stages_q, ptx::Mbarrier* full)
      : rank_m_(rank_m),
        rank_n_(rank_n),
        share_p_(Tile::kByRowsP ? rank_n * Tile::kShareP : 0),
        share_q_(Tile::kByRowsQ ? rank_m * Tile::kShareQ : 0),
        k_p_(Tile::kShareKP < Tile::kBoxK ? rank_n * Tile::kShareKP : 0),
        k_q_(Tile::kShareKQ < Tile::kBoxK ? rank_m * Tile::kShareKQ : 0),
        row_(at.row + share_p_),
        column_(at.column + share_q_),
        k_(at.k),
        mask_p_(static_cast<std::uint16_t>(kRowMask << (rank_m * Tile::kClusterN))),
        mask_q_(static_cast<std::uint16_t>(kColumnMask << rank_n)),
        policy_p_(policy_p),
        stages_p_(stages_p),
        stages_q_(stages_q),
        full_(full) {}

  // The first of the rows that I load.
  __device__ int row() const { return row_; }
  __device__ int column() const { return column_; }

  __device__ __forceinline__ void load_p(const CUtensorMap* map, int rows, int ks,
                                         int stage) const {
    if (Tile::kTurnsAtP && ks % Tile::kClusterN != rank_n_) return;
#pragma unroll
    for (int box = 0; box < Tile::kDepth; ++box)
      load_share<Tile::kMajorP, Tile::kShareP, (Tile::kClusterN > 1)>(
          stages_p_ + stage * Tile::kBytesP + box * Tile::kBoxBytesP + (share_p_ + k_p_) * 128, map,
          rows, &full_[stage], mask_p_, k_ + ks * Tile::kTileK + box * Tile::kBoxK + k_p_, row_,
          policy_p_);
  }
  __device__ __forceinline__ void load_q(const CUtensorMap* map, int rows, int ks,
                                         int stage) const {
    if (Tile::kTurnsAtQ && ks % Tile::kClusterM != rank_m_) return;
#pragma unroll
    for (int box = 0; box < Tile::kDepth; ++box)
      load_share<Tile::kMajorQ, Tile::kShareQ, (Tile::kClusterM > 1)>(
          stages_q_ + stage * Tile::kBytesQ + box * Tile::kBoxBytesQ + (share_q_ + k_q_) * 128, map,
          rows, &full_[stage], mask_q_, k_ + ks * Tile::kTileK + box * Tile::kBoxK + k_q_, column_,
          0);
  }
  __device__ __forceinline__ void load_whole(const CUtensorMap& map_p, const CUtensorMap& map_q,
                                             int ks, int stage) const {
    // What is multicast first: of the other operand, SMs of a GPC then ask for more together
    // (kernels/frame/workers/worker_places.hpp), 20.9 in place of 18.0 million sectors of a product
    // of 4096 cubed by tiles of 128x128 on an H100.
    constexpr bool kQFirst = Tile::kClusterM > 1 && Tile::kClusterN == 1;
    if constexpr (kQFirst) load_q(&map_q, Tile::kShareQ, ks, stage);
    load_p(&map_p, Tile::kShareP, ks, stage);
    if constexpr (!kQFirst) load_q(&map_q, Tile::kShareQ, ks, stage);
  }

 private:
  // Who gets my share: bit r of a mask is CTA r.
  static constexpr std::uint32_t kRowMask = (1u << Tile::kClusterN) - 1;
  static constexpr std::uint32_t column_mask() {
    std::uint32_t mask = 0;
    for (int r = 0; r < Tile::kClusterM; ++r) mask |= 1u << (r * Tile::kClusterN);
    return mask;
  }
  static constexpr std::uint32_t kColumnMask = column_mask();

  int rank_m_, rank_n_;
  int share_p_, share_q_, k_p_, k_q_;
  int row_, column_, k_;
  std::uint16_t mask_p_, mask_q_;
  std::uint64_t policy_p_;
  std::uint8_t *stages_p_, *stages_q_;
  ptx::Mbarrier* full_;
};

// What a CTA asks for before anything else: `count` steps of its first unit from k_begin on.
struct FirstLoads {
  OperandPlace at;
  int k_begin, count;
};

// They find the ring empty, their boxes are whole, and L2 may keep them: without a policy to be
// made and tested, less code comes before the first load. For one thread.
template <class Tile>
__device__ __forceinline__ void load_first_steps(const FirstLoads& first, int rank_m, int rank_n,
                                                 const CUtensorMap& map_p, const CUtensorMap& map_q,
                                                 std::uint8_t* stages_p, std::uint8_t* stages_q,
                                                 ptx::Mbarrier* full) {
  static_assert(Tile::kStages >= kFirstStepsSm90);
  const UnitLoadsSm90<Tile> loads(first.at, rank_m, rank_n, 0, stages_p, stages_q, full);
#pragma unroll 1
  for (int s = 0; s < first.count; ++s) {
    ptx::mbarrier_arrive_expect_tx(&full[s],
                                   (Tile::kTileM + Tile::kLoadedN) * (128 * Tile::kDepth));
    loads.load_whole(map_p, map_q, first.k_begin + s, s);
  }
}

// Loads the steps of a CTA's units: waits for the step's stage, says what will land there, and
// sends its share of P and Q to all that share it. `unit` is the first, if there are `more`, and
// its first steps are under way (load_first_steps). For one thread. It takes 230 cycles for a step,
// and several threads would be faster, but the first step's bytes come later when those of the
// others are asked for at the same time: with two, best forms took 0.1 us longer on an H200, with
// four 0.2 us.
template <class Tile, class Work>
__device__ __forceinline__ void load_units(Work& work, WorkUnit unit, bool more,
                                           std::uint64_t policy_p, int rank_m, int rank_n,
                                           const CUtensorMap& map_p, const CUtensorMap& map_q,
                                           const CUtensorMap& edge_p, const CUtensorMap& edge_q,
                                           const CUtensorMap* map_c, std::uint8_t* stages_p,
                                           std::uint8_t* stages_q, ptx::Mbarrier* full,
                                           ptx::Mbarrier* empty) {
  StepKeeper keeper(work.meeting(), rank_m == 0 && rank_n == 0);
  int stage = 0;
  std::uint32_t parity = 0;
  const auto next_stage = [&] {
    if (++stage == Tile::kStages) {
      stage = 0;
      parity ^= 1;
    }
  };
  int first_round = Work::kEdges ? Tile::kStages : 0;  // steps of it that are left
  if (more) {
    const int sent = work.first_steps_sent(unit);
    stage = sent % Tile::kStages;
    parity = sent / Tile::kStages;
    unit.k_begin += sent;
    first_round -= sent;
  }
  for (; more; more = work.next(unit)) {
    const OperandPlace at = work.operands(unit);
    const UnitLoadsSm90<Tile> loads(at, rank_m, rank_n, policy_p, stages_p, stages_q, full);
    constexpr int kRows = Tile::kTileM + Tile::kLoadedN;
    // Of this unit, beyond the first round: rows of my shares, and what lands here.
    int cut_p = Tile::kShareP, cut_q = Tile::kShareQ, cut_rows = kRows;
    if constexpr (Work::kEdges) {
      constexpr int kMajorP = Tile::kMajorP, kMajorQ = Tile::kMajorQ;
      cut_p = rows_that_land<kMajorP>(work.rows(), loads.row(), Tile::kShareP);
      cut_q = rows_that_land<kMajorQ>(work.columns(), loads.column(), Tile::kShareQ);
      cut_rows = rows_that_land<kMajorP>(work.rows(), at.row, Tile::kTileM) +
                 rows_that_land<kMajorQ>(work.columns(), at.column, Tile::kLoadedN);
    }
    // A loop for each: in one, maps are chosen at run time, with 17 R2UR in place of 11, and
    // products of small tiles, whose workers only load, were 5 to 20% slower on an H200.
    const bool is_cut = Work::kEdges && (cut_rows < kRows);
    const int whole_end = is_cut ? min(unit.k_end, unit.k_begin + max(first_round, 0)) : unit.k_end;
    first_round -= unit.k_end - unit.k_begin;
    int ks = unit.k_begin;
    const auto fill_with = [&](int bytes, const auto& load) {
      ptx::mbarrier_wait_parity(&empty[stage], parity ^ 1);
      ptx::mbarrier_arrive_expect_tx(&full[stage], static_cast<std::uint32_t>(bytes));
      load();
      next_stage();
    };
    const auto fill = [&](int rows, const auto& load) {
      fill_with(rows * (128 * Tile::kDepth), load);
    };
    for (; ks < whole_end; ++ks) fill(kRows, [&] { loads.load_whole(map_p, map_q, ks, stage); });
    if constexpr (Work::kEdges) {
      const bool edge_of_p = Tile::kMajorP == 0 && cut_p < Tile::kShareP;
      const bool edge_of_q = Tile::kMajorQ == 0 && cut_q < Tile::kShareQ;
      for (; ks < unit.k_end; ++ks)
        fill(cut_rows, [&] {
          edge_of_p ? loads.load_p(&edge_p, cut_p, ks, stage)
                    : loads.load_p(&map_p, cut_p, ks, stage);
          edge_of_q ? loads.load_q(&edge_q, cut_q, ks, stage)
                    : loads.load_q(&map_q, cut_q, ks, stage);
        });
    }
    if constexpr (Work::kAddsC) {
      using C = CTileSm90<Tile>;
      const int boxes = work.boxes_of_c(unit), columns = C::columns(work.wide());
      for (int box = 0; box < boxes; box += C::kPerStage) {
        const int here = min(C::kPerStage, boxes - box);
        fill_with(here * C::kBoxBytes, [&] {
          for (int i = 0; i < here; ++i) {
            const int along = (box + i) * columns;
            ptx::tma_load_2d(C::place(stages_p, stages_q, stage, i), map_c, &full[stage],
                             Tile::kSwapped ? at.row + along : at.column + along,
                             Tile::kSwapped ? at.column : at.row);
          }
        });
      }
      // Stages that C took have not been filled whole.
      if (boxes > 0 && first_round > 0) first_round = Tile::kStages;
    }
    keeper.loaded(unit.k_end - unit.k_begin);
  }
  keeper.leave();
  // Stays until the neighbours have released what they were sent: they signal barriers of this
  // CTA. Consumers release before they write their last results.
  if constexpr (Tile::kClusterSize > 1) {
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_wait_parity(&empty[stage], parity ^ 1);
      next_stage();
    }
  }
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// Shadow memory: who wrote and read each byte last, and whether it has been written at all.
#pragma once
#include <cstdint>
#include <vector>

#include "harness/model/check/clock.hpp"

namespace assay::model {

// One access: when, and by which instruction of which thread.
struct Access {
  Epoch epoch;
  std::uint32_t site = 0;         // index of the instruction
  std::uint32_t thread : 30 = 0;  // number of the thread in the grid that did or issued it
  std::uint32_t strong : 2 = 0;   // the Scope of an atomic, volatile or relaxed-or-stronger access
};

struct Cell {
  Access write, read;
  std::uint32_t more_reads = 0;  // index + 1 into Shadow's lists: reads that are not in order
  bool initialized = false;
  bool barrier = false;  // part of a live mbarrier
};

class Shadow {
 public:
  explicit Shadow(std::size_t bytes) : cells_(bytes) {}

  Cell& operator[](std::size_t at) { return cells_[at]; }
  std::size_t size() const { return cells_.size(); }
  std::vector<Access>& reads(Cell& cell) {
    if (cell.more_reads == 0) {
      lists_.emplace_back();
      cell.more_reads = static_cast<std::uint32_t>(lists_.size());
    }
    return lists_[cell.more_reads - 1];
  }

 private:
  std::vector<Cell> cells_;
  std::vector<std::vector<Access>> lists_;
};

}  // namespace assay::model

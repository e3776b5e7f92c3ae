// SPDX-License-Identifier: Apache-2.0
// A CTA's tensor memory while a kernel runs: what it holds, who wrote and read each cell last, and
// which tcgen05 operations are under way. PTX ISA 9.0, 9.7.16.6 "Memory Consistency Model for 5th
// generation of TensorCore operations".
//
// Strands come in twos: `strand` is the component whose epochs say that an operation is done,
// strand + 1 the one that says less. Of MMAs and copies, that they were issued before: enough for
// others of them, which are done in order. Of loads and stores, that they were waited for, but that
// no tcgen05.fence::before_thread_sync has said so to others.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/model/machine/decode.hpp"
#include "harness/model/tensor_memory/allocation.hpp"
#include "harness/model/tensor_memory/instruction.hpp"

namespace assay::model {

// Loads or stores of a warp.
struct TensorAccesses {
  Component strand = 0;
  std::uint32_t issued = 0;
  int unfinished = 0;
};

struct TensorWarp {
  TensorAccesses loads, stores;
};

struct TensorLane {
  Component strand = 0;      // of its MMAs, copies and shifts
  std::uint32_t issued = 0;  // of them
  Clock own;                 // its warp's loads and stores that it has waited for
  Clock after;               // what it knew at its last tcgen05.fence::after_thread_sync
};

struct TensorMemory : Extension {
  struct Block {
    int columns, warp;
  };

  std::vector<std::uint32_t> cells;
  Shadow shadow{kTensorLanes * kTensorColumns};
  TensorAllocator allocator;
  std::map<std::uint32_t, Block> blocks;  // by address
  std::vector<TensorLane> lanes;          // by thread
  std::vector<TensorWarp> warps;
  int cta_group = 0;  // that its instructions name; 0: none came yet
  // MMAs, copies and shifts that this CTA issued, and how many of them are done: they are done in
  // this order.
  std::uint32_t issued = 0, done = 0;
  std::map<std::string, Collector> collectors;         // of the MMAs that it issues: a, b0 to b3
  std::map<std::uint32_t, std::uint32_t> collectives;  // of a pair: how many alloc, dealloc came

  TensorMemory() : cells(kTensorLanes * kTensorColumns, 0x7fc5a5a5) {}
  void at_exit(Run& run, Cta& cta) override;

  std::uint32_t& at(TensorCell c) {
    return cells[static_cast<std::size_t>(c.lane) * kTensorColumns +
                 static_cast<std::size_t>(c.column)];
  }
};

TensorMemory& tensor_memory(Cta& cta);
TensorLane& tensor_lane(Warp& warp, int lane);
TensorWarp& tensor_warp(Run& run, Warp& warp);

// The CTA, or with cta_group::2 the two, the even rank first. Throws Violation if the cluster has
// no pair, one of it has left, or other instructions of the kernel name another group.
std::vector<Cta*> tensor_ctas(Cta& cta, int cta_group);
int cta_group_of(const Instruction& instruction);

// Throws Violation unless the cell is there and allocated.
void require_allocated(TensorMemory& memory, TensorCell cell);

// Who accesses cells.
struct TensorActor {
  Run& run;
  Epoch epoch;
  const Knowledge& knows;
  const TensorLane& lane;
  std::uint32_t thread, site;
  bool in_order;  // an MMA or a copy, which is done after those issued before it
  bool said = false;
};
TensorActor tensor_actor(Warp& warp, int lane, Epoch epoch, bool in_order);
void check_cell(TensorMemory& memory, TensorCell cell, bool writes, TensorActor& actor);

// An operation that tensor memory does in the order of issue.
class TensorOperation : public Operation {
 public:
  TensorOperation(TensorMemory& memory, std::uint32_t number) : memory_(memory), number_(number) {}
  bool in_order() const override { return true; }
  bool may_proceed() const override { return memory_.done == number_; }

 protected:
  TensorMemory& memory_;
  std::uint32_t number_;
};

// The number and the epoch of the next such operation of this lane.
struct TensorIssue {
  std::uint32_t number;
  Epoch epoch;
};
TensorIssue next_operation(Warp& warp, int lane);

void add_tensor_allocation(Meanings& all);
void add_tensor_load_store(Meanings& all);
void add_tensor_multiply(Meanings& all);
void add_tensor_commit(Meanings& all);
void add_tensor_copy(Meanings& all);

}  // namespace assay::model

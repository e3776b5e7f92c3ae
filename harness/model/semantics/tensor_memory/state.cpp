// SPDX-License-Identifier: Apache-2.0
#include "harness/model/semantics/tensor_memory/state.hpp"

#include <fmt/format.h>

#include "harness/model/semantics/lanes.hpp"

namespace assay::model {

void TensorMemory::at_exit(Run& run, Cta& cta) {
  for (const auto& [address, block] : blocks)
    run.report("tensor_memory.leaked",
               fmt::format("CTA {} leaves with {} columns of tensor memory at {:#x} allocated",
                           cta.index, block.columns, address),
               "tcgen05.dealloc of all that was allocated, before the kernel ends");
}

TensorMemory& tensor_memory(Cta& cta) { return cta.extension<TensorMemory>("tcgen05"); }

TensorLane& tensor_lane(Warp& warp, int lane) {
  auto& lanes = tensor_memory(*warp.cta).lanes;
  if (lanes.empty()) lanes.resize(warp.cta->warps.size() * 32);
  return lanes[static_cast<std::size_t>(warp.thread(lane))];
}

namespace {

Component new_strand(Run& run) {
  const Component strand = run.new_component();
  run.new_component();  // strand + 1
  return strand;
}

}  // namespace

TensorWarp& tensor_warp(Run& run, Warp& warp) {
  auto& warps = tensor_memory(*warp.cta).warps;
  if (warps.empty()) warps.resize(warp.cta->warps.size());
  TensorWarp& w = warps[static_cast<std::size_t>(warp.index)];
  if (w.loads.strand == 0) {
    w.loads.strand = new_strand(run);
    w.stores.strand = new_strand(run);
  }
  return w;
}

int cta_group_of(const Instruction& i) {
  if (i.has("cta_group::1")) return 1;
  if (i.has("cta_group::2")) return 2;
  throw Violation("tcgen05.cta_group", "it names neither .cta_group::1 nor .cta_group::2");
}

std::vector<Cta*> tensor_ctas(Cta& cta, int cta_group) {
  TensorMemory& memory = tensor_memory(cta);
  if (memory.cta_group != 0 && memory.cta_group != cta_group)
    throw Violation("tcgen05.cta_group",
                    fmt::format(".cta_group::{} follows .cta_group::{}: all instructions of a "
                                "kernel name the same",
                                cta_group, memory.cta_group));
  memory.cta_group = cta_group;
  if (cta_group == 1) return {&cta};
  const auto& all = cta.cluster->ctas;
  const auto even = static_cast<std::size_t>(cta.rank & ~1);
  if (even + 1 >= all.size())
    throw Violation("tcgen05.cta_group",
                    fmt::format(".cta_group::2 needs CTA {} of the cluster, which has {}",
                                cta.rank ^ 1, all.size()));
  if (all[even]->left || all[even + 1]->left)
    throw Violation("cluster.left", "a CTA of the pair has left already");
  return {all[even], all[even + 1]};
}

void require_allocated(TensorMemory& memory, TensorCell c) {
  if (c.lane < 0 || c.lane >= kTensorLanes || c.column < 0 || c.column >= kTensorColumns)
    throw Violation(
        "tensor_memory.bounds",
        fmt::format("lane {}, column {} is outside of tensor memory", c.lane, c.column));
  if (!memory.allocator.holds(c))
    throw Violation("tensor_memory.not_allocated",
                    fmt::format("column {} of tensor memory is not allocated", c.column));
}

TensorActor tensor_actor(Warp& warp, int lane, Epoch epoch, bool in_order) {
  const TensorLane& l = tensor_lane(warp, lane);
  return {*warp.run,
          epoch,
          warp.lanes[static_cast<std::size_t>(lane)].knows,
          l,
          warp.cta->thread_base + static_cast<std::uint32_t>(warp.thread(lane)),
          warp.run->current_site(),
          in_order};
}

TensorIssue next_operation(Warp& warp, int lane) {
  TensorLane& l = tensor_lane(warp, lane);
  if (l.strand == 0) l.strand = new_strand(*warp.run);
  return {tensor_memory(*warp.cta).issued++, {l.strand, ++l.issued}};
}

namespace {

bool ordered(const Access& before, const TensorActor& a) {
  const Epoch e = before.epoch;
  if (e.time == 0) return true;
  if (e.component == a.epoch.component) return e.time <= a.epoch.time;
  if (a.lane.own.covers(e) || a.lane.after.covers(e)) return true;
  // A thread needs no fence to order what it has itself waited for.
  if (before.thread == a.thread && a.knows.all.covers(e)) return true;
  // An MMA after one that another thread issued before.
  return a.in_order && before.strong != 0 && a.lane.after.covers({e.component + 1, e.time});
}

void say(TensorActor& a, TensorCell cell, bool writes, const Access& other, bool other_writes) {
  if (a.said) return;
  a.said = true;
  const Epoch e = other.epoch;
  const Epoch waited{e.component + 1, e.time};
  std::string rule = "tensor_memory.race", reason = "nothing orders the two", mend;
  if (a.knows.all.covers(e)) {
    rule = "tensor_memory.fence_after";
    reason = "no tcgen05.fence::after_thread_sync follows the synchronization between the two";
    mend = "tcgen05.fence::after_thread_sync after the wait, before the tcgen05 instruction";
  } else if (other.strong == 0 && a.knows.all.covers(waited)) {
    rule = "tensor_memory.fence_before";
    reason = "no tcgen05.fence::before_thread_sync precedes the synchronization between the two";
    mend = "tcgen05.fence::before_thread_sync after tcgen05.wait, before the arrival";
  } else if (other_writes && !writes) {
    rule = "tensor_memory.read_before_complete";
    mend = "wait for the mbarrier of its tcgen05.commit, or tcgen05.wait::st, before the read";
  } else if (!other_writes) {
    rule = "tensor_memory.overwritten_while_read";
    mend =
        "let whoever reads wait (tcgen05.wait::ld, the mbarrier of a commit) and say so before "
        "the columns are written again";
  }
  const Place here = a.run.place_of(a.thread, a.site),
              there = a.run.place_of(other.thread, other.site);
  a.run.report(
      rule,
      fmt::format("thread {} {} lane {}, column {} of tensor memory, which thread {} {}: {}",
                  here.thread, writes ? "writes" : "reads", cell.lane, cell.column, there.thread,
                  other_writes ? "writes" : "reads", reason),
      here, &there, mend);
}

}  // namespace

void check_cell(TensorMemory& memory, TensorCell at, bool writes, TensorActor& a) {
  if (!a.run.options().check) return;
  Cell& cell = memory.shadow[static_cast<std::size_t>(at.lane) * kTensorColumns +
                             static_cast<std::size_t>(at.column)];
  Access now{a.epoch, a.site, a.thread};
  now.strong = a.in_order;
  if (!writes && !cell.initialized && !a.said) {
    a.said = true;
    a.run.report("tensor_memory.uninitialized",
                 fmt::format("lane {}, column {} of tensor memory is read and was never written",
                             at.lane, at.column),
                 a.run.place_of(a.thread, a.site), nullptr,
                 "the first MMA of a sum with enable-input-d false");
  }
  if (!ordered(cell.write, a)) say(a, at, writes, cell.write, true);
  if (!writes) {
    if (cell.read.epoch.time == 0 || ordered(cell.read, a)) {
      cell.read = now;
      return;
    }
    auto& list = memory.shadow.reads(cell);
    for (Access& other : list)
      if (other.epoch.component == now.epoch.component) {
        other = now;
        return;
      }
    list.push_back(now);
    return;
  }
  if (!ordered(cell.read, a)) say(a, at, true, cell.read, false);
  if (cell.more_reads != 0) {
    auto& list = memory.shadow.reads(cell);
    for (const Access& other : list)
      if (!ordered(other, a)) say(a, at, true, other, false);
    list.clear();
  }
  cell.write = now;
  cell.read = {};
  cell.initialized = true;
}

void add_tcgen05(Meanings& all) {
  add_tensor_allocation(all);
  add_tensor_load_store(all);
  add_tensor_multiply(all);
  add_tensor_commit(all);
  add_tensor_copy(all);
}

}  // namespace assay::model

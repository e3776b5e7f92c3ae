// SPDX-License-Identifier: Apache-2.0
// tcgen05.alloc, dealloc, relinquish_alloc_permit, and the fences. PTX ISA 9.0, 9.7.16.7 "Tensor
// Memory Allocation and Management Instructions", 9.7.16.11 "tcgen05.fence". That a block is freed
// by the warp that allocated it is CUTLASS's word (cute/arch/tmem_allocator_sm100.hpp).
#include <fmt/format.h>

#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/tensor_memory/state.hpp"

namespace assay::model {
namespace {

enum class Collective : std::uint32_t { alloc, dealloc };

// With cta_group::2 a warp of each CTA executes the instruction: it blocks until the other has
// come.
bool pair_came(Warp& w, int cta_group, Collective which) {
  std::int64_t& token = w.current->token;
  const auto site = static_cast<std::uint32_t>(which);
  if (token < 0) {
    if (tensor_ctas(*w.cta, cta_group).size() == 1) return true;
    token = ++tensor_memory(*w.cta).collectives[site];
    w.run->changed();
  }
  Cta* peer = w.cta->cluster->ctas[static_cast<std::size_t>(w.cta->rank ^ 1)];
  const auto here = static_cast<std::uint32_t>(token);
  if (tensor_memory(*peer).collectives[site] >= here) return true;
  w.current->wait =
      Wait{[peer, site, here] { return tensor_memory(*peer).collectives[site] >= here; },
           "the other CTA of the pair, to execute it too"};
  return false;
}

Action alloc(Decoder& d, const Instruction& i) {
  const AddressOperand to = d.address(i.operands.at(0));
  const int count = d.source(i.operands.at(1)), group = cta_group_of(i);
  const Space space = i.has("shared::cta") ? Space::shared : Space::generic;
  return [=](Warp& w, Mask m) {
    if (!converged(w, m)) return Next::blocked;
    Run& run = *w.run;
    if (!pair_came(w, group, Collective::alloc)) return Next::blocked;
    TensorMemory& memory = tensor_memory(*w.cta);
    const int columns = static_cast<int>(low(w.reg(count)[0], 32));
    const auto address = memory.allocator.allocate(columns);
    if (!address) {
      w.current->wait = Wait{[&run, before = run.time()] { return run.time() > before; },
                             fmt::format("{} free columns of tensor memory", columns)};
      return Next::blocked;
    }
    memory.blocks[*address] = {columns, w.index};
    const TensorCell first = tensor_cell(*address);
    for (int lane = 0; lane < kTensorLanes; ++lane)
      for (int column = first.column; column < first.column + columns; ++column)
        memory.shadow[static_cast<std::size_t>(lane * kTensorColumns + column)].initialized = false;
    run.store(w, 0, space, address_at(w, to, 0), &*address, 4);
    return Next::step;
  };
}

Action dealloc(Decoder& d, const Instruction& i) {
  const int address = d.source(i.operands.at(0)), count = d.source(i.operands.at(1)),
            group = cta_group_of(i);
  return [=](Warp& w, Mask m) {
    if (!converged(w, m)) return Next::blocked;
    Run& run = *w.run;
    if (!pair_came(w, group, Collective::dealloc)) return Next::blocked;
    TensorMemory& memory = tensor_memory(*w.cta);
    const auto at = static_cast<std::uint32_t>(w.reg(address)[0]);
    const int columns = static_cast<int>(low(w.reg(count)[0], 32));
    memory.allocator.release(at, columns);
    if (const auto block = memory.blocks.find(at); block->second.warp != w.index)
      run.report("tensor_memory.wrong_warp",
                 fmt::format("warp {} frees the columns at {:#x}, which warp {} allocated", w.index,
                             at, block->second.warp),
                 "tcgen05.dealloc by the warp that executed tcgen05.alloc");
    memory.blocks.erase(at);
    // Whoever still reads or writes them does it too late.
    TensorActor actor = tensor_actor(w, 0, {0, 1}, false);
    const TensorCell first = tensor_cell(at);
    for (int lane = 0; lane < kTensorLanes; ++lane)
      for (int column = first.column; column < first.column + columns; ++column) {
        Cell& cell = memory.shadow[static_cast<std::size_t>(lane * kTensorColumns + column)];
        if (cell.initialized || cell.read.epoch.time != 0)
          check_cell(memory, {lane, column}, true, actor);
        cell.write = {};
        cell.initialized = false;
      }
    run.changed();
    return Next::step;
  };
}

Action relinquish(Decoder&, const Instruction& i) {
  const int group = cta_group_of(i);
  return [=](Warp& w, Mask m) {
    if (!converged(w, m)) return Next::blocked;
    tensor_ctas(*w.cta, group);
    tensor_memory(*w.cta).allocator.relinquish();
    return Next::step;
  };
}

// What the thread has waited for or issued becomes part of what its next synchronization passes on.
Action fence_before(Decoder&, const Instruction&) {
  return [](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      TensorLane& lane = tensor_lane(w, l);
      Clock& all = w.lanes[static_cast<std::size_t>(l)].knows.all;
      all.join(lane.own);
      if (lane.strand != 0 && lane.issued != 0) all.raise({lane.strand + 1, lane.issued});
    });
    return Next::step;
  };
}

Action fence_after(Decoder&, const Instruction&) {
  return [](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      tensor_lane(w, l).after = w.lanes[static_cast<std::size_t>(l)].knows.all;
    });
    return Next::step;
  };
}

}  // namespace

void add_tensor_allocation(Meanings& all) {
  all.add("tcgen05.alloc", alloc);
  all.add("tcgen05.dealloc", dealloc);
  all.add("tcgen05.relinquish_alloc_permit", relinquish);
  all.add("tcgen05.fence::before_thread_sync", fence_before);
  all.add("tcgen05.fence::after_thread_sync", fence_after);
}

}  // namespace assay::model

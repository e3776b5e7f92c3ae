// SPDX-License-Identifier: Apache-2.0
// Branches, exits, and what only steers the hardware. PTX ISA 9.0, "Control Flow Instructions",
// "Miscellaneous Instructions", "setmaxnreg", "griddepcontrol".
#include <algorithm>
#include <cstdio>

#include "harness/model/semantics/lanes.hpp"

namespace assay::model {

bool converged(Warp& warp, Mask mask, Mask members) {
  const Mask wanted = members & warp.live;
  if ((mask & wanted) == wanted) return true;
  char text[160];
  std::snprintf(text, sizeof text,
                "lanes 0x%08x of its warp to come to the same instruction (only 0x%08x are here)",
                wanted, mask);
  warp.current->wait = Wait{[&warp, mask, members] {
                              const Mask left = members & warp.live;
                              return (mask & left) == left;
                            },
                            text, "warp.divergent"};
  return false;
}

bool whole_warp(Warp& warp, Mask mask) {
  if (!converged(warp, mask)) return false;
  if (mask == kAllLanes) return true;
  char text[160];
  std::snprintf(text, sizeof text,
                "all 32 lanes must execute it: only 0x%08x do, and the others have left", mask);
  throw Violation("warp.divergent", text);
}

namespace {

// Sends the lanes of `taken` to `target` and the others on.
Next branch(Warp& w, Mask taken, int target) {
  Group& g = *w.current;
  const Mask rest = g.mask & ~taken;
  if (target <= g.pc) ++g.spins;  // a loop that only asks gives way to other groups
  if (taken == 0) {
    ++g.pc;
    return Next::jump;
  }
  if (rest == 0) {
    g.pc = target;
    return Next::jump;
  }
  Group other = g;
  g.mask = taken;
  other.mask = rest;
  other.pc = g.pc + 1;
  other.spins = 0;
  g.pc = target;
  w.groups.push_back(other);
  return Next::jump;
}

Action jump(Decoder&, const Instruction& i) {
  if (i.target < 0) throw Violation("ptx.operand", "there is no such label");
  return [target = i.target](Warp& w, Mask m) { return branch(w, m, target); };
}

// brx.idx: a label of a table by number.
Action indexed(Decoder& d, const Instruction& i) {
  const int index = d.source(i.operands.at(0));
  const std::vector<int>& targets = i.targets;
  if (targets.empty()) throw Violation("ptx.operand", "there is no such table");
  return [index, targets](Warp& w, Mask m) {
    const Group g = *w.current;
    std::vector<Group> out;
    if (g.mask & ~m) out.push_back({.mask = g.mask & ~m, .pc = g.pc + 1});
    for_lanes(m, [&](int l) {
      const auto k = static_cast<std::size_t>(low(w.reg(index)[l], 32));
      if (k >= targets.size())
        throw Violation("branch.index", "the index of brx is out of its table");
      for (Group& o : out)
        if (o.pc == targets[k]) {
          o.mask |= Mask{1} << l;
          return;
        }
      out.push_back({.mask = Mask{1} << l, .pc = targets[k]});
    });
    *w.current = out.front();
    w.groups.insert(w.groups.end(), out.begin() + 1, out.end());
    return Next::jump;
  };
}

Action leave(Decoder& d, const Instruction&) {
  const int last = static_cast<int>(d.function().body.size());
  return [last](Warp& w, Mask m) { return branch(w, m, last); };
}

Action nothing(Decoder&, const Instruction&) {
  return [](Warp&, Mask) { return Next::step; };
}

// griddepcontrol.wait waits for grids before this one; launch_dependents lets the next one begin,
// which may not take to have ended what this one had not waited for by then.
Action depend(Decoder&, const Instruction& i) {
  const bool wait = i.has("wait");
  return [wait](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      if (wait)
        w.run->wait_for_grids(w, l);
      else
        w.run->let_next_begin(w, l);
    });
    return Next::step;
  };
}

Action call(Decoder& d, const Instruction& i) {
  const std::string& name = i.operands.at(1).symbol;
  if (name == "vprintf") {
    const auto results = i.operands.at(0).elements;
    (void)d;
    return [](Warp&, Mask) { return Next::step; };
  }
  if (name == "__assertfail")
    return [](Warp&, Mask) -> Next {
      throw Violation("kernel.assert", "an assert of the kernel failed");
    };
  throw Violation("model.unknown", "a call of '" + name +
                                       "': the model runs no function by its address, by itself "
                                       "or without a body");
}

// setmaxnreg: a warpgroup's registers. What a CTA may hold is 64 Ki registers; each warp begins
// with what the kernel was compiled for, which PTX does not say: the most that fits its threads.
struct RegisterPool : Extension {
  std::vector<int> registers;                     // of a thread of each warp
  std::vector<std::vector<std::uint32_t>> sites;  // of what each warp has executed

  void begin(const Cta& cta) {
    if (!registers.empty()) return;
    const std::size_t warps = cta.warps.size();
    registers.assign(warps, std::min(255 / 8 * 8, 65536 / (static_cast<int>(warps) * 32) / 8 * 8));
    sites.resize(warps);
  }

  // What all would hold if those of `warp` were `count`.
  int held(std::size_t warp, int count) const {
    int sum = (count - registers[warp]) * 32;
    for (const int r : registers) sum += r * 32;
    return sum;
  }

  // The warps of a warpgroup must execute the same ones.
  void at_exit(Run& run, Cta& cta) override {
    for (std::size_t warp = 0; warp < sites.size(); ++warp) {
      const auto& first = sites[warp / 4 * 4];
      const auto& mine = sites[warp];
      if (mine == first) continue;
      const auto differ = std::ranges::mismatch(first, mine);
      const bool lacks = differ.in2 == mine.end();
      const std::size_t who = lacks ? warp / 4 * 4 : warp;
      run.report("setmaxnreg.warps",
                 "warp " + std::to_string(who) + " executes it, and warp " +
                     std::to_string(lacks ? warp : warp / 4 * 4) +
                     " of its warpgroup does not, or another one in its place",
                 run.place_of(cta.thread_base + static_cast<std::uint32_t>(who * 32),
                              lacks ? *differ.in1 : *differ.in2),
                 nullptr, "let all four warps of the warpgroup execute it");
      return;
    }
  }
};

Action set_registers(Decoder&, const Instruction& i) {
  const auto count =
      static_cast<int>(Decoder::immediate(i.operands.at(0), "the count of registers"));
  if (count < 24 || count > 256 || count % 8 != 0)
    throw Violation("setmaxnreg.count", "the count must be a multiple of 8 from 24 to 256");
  const bool increase = i.has("inc");
  return [=](Warp& w, Mask m) {
    if (!whole_warp(w, m)) return Next::blocked;
    auto& pool = w.cta->extension<RegisterPool>("setmaxnreg");
    pool.begin(*w.cta);
    const auto warp = static_cast<std::size_t>(w.index);
    if (!increase && count > pool.registers[warp])
      throw Violation("setmaxnreg.direction", "setmaxnreg.dec to " + std::to_string(count) +
                                                  " from " + std::to_string(pool.registers[warp]) +
                                                  " registers");
    if (increase && pool.held(warp, count) > 65536) {
      w.current->wait = Wait{[&pool, warp, count] { return pool.held(warp, count) <= 65536; },
                             std::to_string(count) + " registers a thread, which others hold"};
      return Next::blocked;
    }
    pool.registers[warp] = count;
    pool.sites[warp].push_back(w.run->current_site());
    w.run->changed();
    return Next::step;
  };
}

}  // namespace

void add_control(Meanings& all) {
  all.add("bra", jump);
  all.add("brx", indexed);
  all.add("ret", leave);
  all.add("exit", leave);
  all.add("call", call);
  all.add("setmaxnreg", set_registers);
  all.add("griddepcontrol", depend);
  all.add("nanosleep", [](Decoder&, const Instruction&) -> Action {
    return [](Warp&, Mask) { return Next::yield; };
  });
  all.add("trap", [](Decoder&, const Instruction&) -> Action {
    return [](Warp&, Mask) -> Next { throw Violation("kernel.trap", "the kernel came to a trap"); };
  });
  for (const char* name : {"brkpt", "pmevent", "prefetch", "prefetchu", "applypriority",
                           "cp.async.bulk.prefetch", "discard"})
    all.add(name, nothing);
  // A policy is a hint; its bits mean nothing here.
  all.add("createpolicy", [](Decoder& d, const Instruction& i) -> Action {
    const int out = d.destination(i.operands.at(0));
    return [out](Warp& w, Mask m) {
      for_lanes(m, [&](int l) { w.reg(out)[l] = 0; });
      return Next::step;
    };
  });
}

}  // namespace assay::model

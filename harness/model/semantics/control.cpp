// SPDX-License-Identifier: Apache-2.0
// Branches, exits, and what only steers the hardware. PTX ISA 9.0, "Control Flow Instructions",
// "Miscellaneous Instructions", "setmaxnreg", "griddepcontrol".
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
  const Function& f = d.function();
  const auto table = f.branch_targets.find(i.operands.at(1).symbol);
  if (table == f.branch_targets.end()) throw Violation("ptx.operand", "there is no such table");
  std::vector<int> targets;
  for (const std::string& label : table->second)
    targets.push_back(std::stoi(f.branch_targets.at("=" + label).front()));
  return [=](Warp& w, Mask m) {
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
  throw Violation("model.unknown",
                  "a call of '" + name + "': the model runs kernels whose functions are inlined");
}

// setmaxnreg: a warpgroup's registers. What a CTA may hold is 64 Ki registers; each warp begins
// with what the kernel was compiled for, which PTX does not say: the most that fits its threads.
Action set_registers(Decoder& d, const Instruction& i) {
  const auto count = Decoder::immediate(i.operands.at(0), "the count of registers");
  if (count < 24 || count > 256 || count % 8 != 0)
    throw Violation("setmaxnreg.count", "the count must be a multiple of 8 from 24 to 256");
  (void)d;
  const bool increase = i.has("inc");
  struct Pool : Extension {
    std::vector<int> warps;
  };
  return [=](Warp& w, Mask m) {
    if (!converged(w, m)) return Next::blocked;
    Pool& pool = w.cta->extension<Pool>("setmaxnreg");
    if (pool.warps.empty()) {
      const int warps = static_cast<int>(w.cta->warps.size());
      pool.warps.assign(w.cta->warps.size(), std::min(255 / 8 * 8, 65536 / (warps * 32) / 8 * 8));
    }
    int& mine = pool.warps[static_cast<std::size_t>(w.index)];
    if (!increase && count > mine)
      throw Violation("setmaxnreg.direction", "setmaxnreg.dec to " + std::to_string(count) +
                                                  " from " + std::to_string(mine) + " registers");
    int used = 0;
    for (int r : pool.warps) used += r * 32;
    if (increase && used + (static_cast<int>(count) - mine) * 32 > 65536) {
      w.current->wait = Wait{[&pool, &mine, count] {
                               int now = 0;
                               for (int r : pool.warps) now += r * 32;
                               return now + (static_cast<int>(count) - mine) * 32 <= 65536;
                             },
                             std::to_string(count) + " registers a thread, which others hold"};
      return Next::blocked;
    }
    mine = static_cast<int>(count);
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
  all.add("nanosleep", [](Decoder&, const Instruction&) -> Action {
    return [](Warp&, Mask) { return Next::yield; };
  });
  all.add("trap", [](Decoder&, const Instruction&) -> Action {
    return [](Warp&, Mask) -> Next { throw Violation("kernel.trap", "the kernel came to a trap"); };
  });
  for (const char* name : {"brkpt", "pmevent", "griddepcontrol", "prefetch", "prefetchu",
                           "applypriority", "cp.async.bulk.prefetch", "discard"})
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

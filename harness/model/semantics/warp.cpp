// SPDX-License-Identifier: Apache-2.0
// What lanes of a warp do together. PTX ISA 9.0, "shfl.sync", "vote.sync", "match.sync",
// "redux.sync", "elect.sync", "activemask", "bar.warp.sync".
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/number.hpp"

namespace assay::model {
namespace {

// What lanes with the same member mask do together.
using Together = std::function<void(Warp&, Mask)>;

// Does it for all lanes that name the same mask, once all that it names are here. Lanes of other
// masks may come to the same instruction: tiles of a warp each name their own.
Action in_parts(int mask_slot, Together act) {
  return [=](Warp& w, Mask m) {
    const auto members_of = [&](int l) { return static_cast<Mask>(w.reg(mask_slot)[l]); };
    std::vector<Mask> parts;
    for (Mask left = m; left != 0;) {
      const Mask members = members_of(std::countr_zero(left));
      Mask part = 0;
      for_lanes(left, [&](int l) {
        if (members_of(l) == members) part |= Mask{1} << l;
      });
      for_lanes(m, [&](int l) {
        const bool own = (part >> l & 1) != 0, named = (members >> l & 1) != 0;
        if (own == named) return;
        w.run->lane_now = l;
        throw Violation("warp.member_mask",
                        own ? "the lane executes it, but its member mask lacks it"
                            : "another lane's member mask names it, and it names another mask");
      });
      if (!converged(w, m, members)) return Next::blocked;
      parts.push_back(part);
      left &= ~part;
    }
    for (const Mask part : parts) act(w, part);
    return Next::step;
  };
}

// In place of what the manual leaves open: no number as a float, too large as an integer.
constexpr Value kAnything = 0xffffdead;

// shfl.sync.mode.b32 d[|p], a, b, c, membermask
Action shuffle(Decoder& d, const Instruction& i) {
  const int out = d.destination(i.operands.at(0)), p = i.operands[0].second;
  const int a = d.source(i.operands.at(1)), b = d.source(i.operands.at(2)),
            c = d.source(i.operands.at(3)), mask = d.source(i.operands.at(4));
  const std::string mode = i.parts.at(2);
  return in_parts(mask, [=](Warp& w, Mask m) {
    Value before[32];
    std::copy_n(w.reg(a), 32, before);
    for_lanes(m, [&](int l) {
      const auto bv = static_cast<int>(w.reg(b)[l] & 31), cv = static_cast<int>(w.reg(c)[l] & 31),
                 segment = static_cast<int>(w.reg(c)[l] >> 8 & 31);
      const int most = (l & segment) | (cv & ~segment), least = l & segment;
      int from = 0;
      bool valid = false;
      if (mode == "up") {
        from = l - bv;
        valid = from >= most;
      } else if (mode == "down") {
        from = l + bv;
        valid = from <= most;
      } else if (mode == "bfly") {
        from = l ^ bv;
        valid = from <= most;
      } else {
        from = least | (bv & ~segment);
        valid = from <= most;
      }
      if (!valid) from = l;
      // From a lane that takes no part comes anything; reductions of part of a warp do not use it.
      w.reg(out)[l] = (m >> from & 1) != 0 ? low(before[from], 32) : kAnything;
      if (p >= 0) w.reg(p)[l] = valid;
    });
  });
}

// redux.sync.{min,max}[.abs][.NaN].f32: a NaN is left out, but with .NaN wins; -0 is less than +0.
Action reduce_floats(const Instruction& i, int out, int in, int mask) {
  const bool min = i.has("min"), absolute = i.has("abs"), nans = i.has("NaN");
  if (!min && !i.has("max")) unknown_part(i, i.parts.at(2));
  return in_parts(mask, [=](Warp& w, Mask m) {
    float r = std::numeric_limits<float>::quiet_NaN();
    bool nan = false;
    for_lanes(m, [&](int l) {
      const float v = absolute ? std::fabs(as_float(w.reg(in)[l])) : as_float(w.reg(in)[l]);
      nan |= std::isnan(v);
      if (std::isnan(v)) return;
      const bool less = v < r || (v == r && std::signbit(v) && !std::signbit(r));
      if (std::isnan(r) || less == min) r = v;
    });
    const Value all = std::isnan(r) || (nans && nan) ? 0x7fffffff : bits_of(r);
    for_lanes(m, [&](int l) { w.reg(out)[l] = all; });
  });
}

Action vote(Decoder& d, const Instruction& i) {
  const int out = d.destination(i.operands.at(0)), in = d.source(i.operands.at(1)),
            mask = d.source(i.operands.at(2));
  const bool negated = i.operands[1].negated;
  const std::string mode = i.parts.at(2);
  return in_parts(mask, [=](Warp& w, Mask m) {
    Mask yes = 0;
    for_lanes(m, [&](int l) {
      if (((w.reg(in)[l] & 1) != 0) != negated) yes |= Mask{1} << l;
    });
    for_lanes(m, [&](int l) {
      w.reg(out)[l] = mode == "all"   ? yes == m
                      : mode == "any" ? yes != 0
                      : mode == "uni" ? yes == m || yes == 0
                                      : yes;
    });
  });
}

Action match(Decoder& d, const Instruction& i) {
  const Type t = type_of(i);
  const int out = d.destination(i.operands.at(0)), p = i.operands[0].second,
            in = d.source(i.operands.at(1), t), mask = d.source(i.operands.at(2));
  const bool all = i.has("all");
  return in_parts(mask, [=](Warp& w, Mask m) {
    Value before[32];  // the result may go to the same register
    std::copy_n(w.reg(in), 32, before);
    for_lanes(m, [&](int l) {
      Mask same = 0;
      for_lanes(m, [&](int k) {
        if (low(before[k], t.bits) == low(before[l], t.bits)) same |= Mask{1} << k;
      });
      const bool every = same == m;
      w.reg(out)[l] = all ? (every ? m : 0) : same;
      if (p >= 0) w.reg(p)[l] = every;
    });
  });
}

Action reduce(Decoder& d, const Instruction& i) {
  Number n;
  parse_number(i.parts.back(), n);
  const int out = d.destination(i.operands.at(0)), in = d.source(i.operands.at(1)),
            mask = d.source(i.operands.at(2));
  const std::string op = i.parts.at(2);
  if (n.floating()) return reduce_floats(i, out, in, mask);
  return in_parts(mask, [=](Warp& w, Mask m) {
    bool first = true;
    Value r = 0;
    for_lanes(m, [&](int l) {
      const Value v = low(w.reg(in)[l], 32);
      if (first)
        r = v;
      else if (op == "add")
        r += v;
      else if (op == "and")
        r &= v;
      else if (op == "or")
        r |= v;
      else if (op == "xor")
        r ^= v;
      else {
        const bool less = n.kind == Number::Kind::signed_ ? extend(v, 32) < extend(r, 32)
                                                          : low(v, 32) < low(r, 32);
        if (less == (op == "min")) r = v;
      }
      first = false;
    });
    for_lanes(m, [&](int l) { w.reg(out)[l] = low(r, 32); });
  });
}

// elect.sync d|p, membermask: silicon elects the lowest; the manual says no more than that it is
// the same one for the same mask every time.
Action elect(Decoder& d, const Instruction& i) {
  const int out = d.destination(i.operands.at(0)), p = i.operands[0].second,
            mask = d.source(i.operands.at(1));
  return in_parts(mask, [=](Warp& w, Mask m) {
    const bool highest = w.run->takes_second(Reading::elect_lane);
    const int leader = highest ? 31 - std::countl_zero(m) : std::countr_zero(m);
    for_lanes(m, [&](int l) {
      w.reg(out)[l] = static_cast<Value>(leader);
      if (p >= 0) w.reg(p)[l] = l == leader;
    });
  });
}

// bar.warp.sync: orders the memory accesses of the lanes named.
Action sync(Decoder& d, const Instruction& i) {
  const int mask = d.source(i.operands.at(0));
  return in_parts(mask, [=](Warp& w, Mask m) {
    Knowledge all;
    Passed passed;
    for_lanes(m, [&](int l) {
      w.run->release(w, l, all);
      passed.take(w.lanes[static_cast<std::size_t>(l)]);
    });
    for_lanes(m, [&](int l) {
      Lane& lane = w.lanes[static_cast<std::size_t>(l)];
      lane.knows = all;
      passed.give(lane);
    });
  });
}

}  // namespace

void add_warp(Meanings& all) {
  all.add("shfl", shuffle);
  all.add("vote", vote);
  all.add("match", match);
  all.add("redux", reduce);
  all.add("elect", elect);
  all.add("bar.warp", sync);
  all.add("activemask", [](Decoder& d, const Instruction& i) -> Action {
    const int out = d.destination(i.operands.at(0));
    return [out](Warp& w, Mask m) {
      for_lanes(m, [&](int l) { w.reg(out)[l] = m; });
      return Next::step;
    };
  });
}

}  // namespace assay::model

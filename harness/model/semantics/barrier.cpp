// SPDX-License-Identifier: Apache-2.0
// Barriers of a CTA and of a cluster, fences. PTX ISA 9.0, "bar, barrier", "barrier.cluster",
// "membar / fence".
#include <algorithm>
#include <cstring>

#include "harness/model/semantics/lanes.hpp"

namespace assay::model {
namespace {

Lane& lane_of(Warp& w, int l) { return w.lanes[static_cast<std::size_t>(l)]; }

// Counts the lanes of `m` in, of which those of `votes` have a true predicate. The last of them
// opens the barrier.
void arrive(Warp& w, Mask m, NamedBarrier& b, int count, int id, Mask votes = 0) {
  const int live = w.cta->live_threads, here = count > 0 ? count : live, elsewhere = b.wanted(live);
  if (b.arrived > 0 && here != elsewhere)
    throw Violation("barrier.count", "barrier " + std::to_string(id) + " is waited for with " +
                                         std::to_string(here) + " threads here and with " +
                                         std::to_string(elsewhere) + " elsewhere");
  if (b.arrived == 0 || count > 0) b.count = count;
  for_lanes(m, [&](int l) {
    w.run->release(w, l, b.gathering);
    b.passing.take(lane_of(w, l));
  });
  b.arrived += std::popcount(m);
  b.voting += std::popcount(votes);
  b.arrivals.push_back(
      {w.cta->thread_base + static_cast<std::uint32_t>(w.thread(std::countr_zero(m))),
       w.run->current_site()});
  if (b.arrived > here)
    throw Violation("barrier.count", "barrier " + std::to_string(id) + " has " +
                                         std::to_string(b.arrived) + " arrivals, more than its " +
                                         std::to_string(here) + " threads");
  if (b.arrived == here) b.open(w.run->opening_event("arrives, and opens a barrier of the CTA"));
  w.run->changed();
}

// bar.sync / barrier.sync a[, b], bar.arrive a, b, bar.red.popc.u32 / .and.pred / .or.pred
// d, a[, b], {!}c
Action named_barrier(Decoder& d, const Instruction& i) {
  const bool is_arrive = i.has("arrive"), is_red = i.has("red");
  const std::size_t first = is_red ? 1 : 0;
  const int id = d.source(i.operands.at(first));
  const std::size_t rest = i.operands.size() - first;
  const bool counted = rest > (is_red ? 2u : 1u);
  const int count = counted ? d.source(i.operands.at(first + 1)) : -1;
  // `bar` is `barrier.aligned`: all lanes of the warp execute it together.
  const bool aligned = i.parts[0] == "bar" || i.has("aligned");
  const int result = is_red ? d.destination(i.operands.at(0)) : -1;
  const int vote = is_red ? d.source(i.operands.back()) : -1;
  const bool negated = is_red && i.operands.back().negated;
  const bool counts = i.has("popc"), all = i.has("and");
  if (is_red && !counts && !all && !i.has("or")) unknown_part(i, i.parts.back());
  return [=](Warp& w, Mask m) {
    if (aligned && w.current->token < 0 && !converged(w, m)) return Next::blocked;
    const auto number = low(w.reg(id)[std::countr_zero(m)], 32);
    if (number > 15)
      throw Violation("barrier.number",
                      "there are barriers 0 to 15, not " + std::to_string(number));
    NamedBarrier& b = w.cta->barriers[number];
    const int given = counted ? static_cast<int>(low(w.reg(count)[std::countr_zero(m)], 32)) : 0;
    if (counted && (given % 32 != 0 || given == 0))
      throw Violation("barrier.count", "the count of threads must be a multiple of 32, not " +
                                           std::to_string(given));
    if (is_arrive) {
      arrive(w, m, b, given, static_cast<int>(number));
      return Next::step;
    }
    if (w.current->token < 0) {
      w.current->token = static_cast<std::int64_t>(b.round);
      Mask votes = 0;
      if (is_red)
        for_lanes(m, [&](int l) {
          if (((w.reg(vote)[l] & 1) != 0) != negated) votes |= Mask{1} << l;
        });
      arrive(w, m, b, given, static_cast<int>(number), votes);
    }
    const auto mine = static_cast<std::uint64_t>(w.current->token);
    if (b.round == mine) {
      w.current->wait =
          Wait{[&b, mine] { return b.round != mine; },
               "barrier " + std::to_string(number) + " of the CTA (" + std::to_string(b.arrived) +
                   " of " + std::to_string(b.wanted(w.cta->live_threads)) + " threads are there)",
               {},
               &b.opened_by};
      return Next::blocked;
    }
    for_lanes(m, [&](int l) {
      lane_of(w, l).knows.join(b.finished);
      b.passed.give(lane_of(w, l));
      if (is_red)
        w.reg(result)[l] = static_cast<Value>(counts ? b.voted
                                              : all  ? b.voted == b.voters
                                                     : b.voted != 0);
    });
    return Next::step;
  };
}

int live_threads(const Cluster& c) {
  int live = 0;
  for (const Cta* cta : c.ctas) live += cta->live_threads;
  return live;
}

// barrier.cluster.arrive: counted per warp; .relaxed orders nothing.
Action cluster_arrive(Decoder&, const Instruction& i) {
  const bool relaxed = i.has("relaxed"), aligned = i.has("aligned");
  return [=](Warp& w, Mask m) {
    if (aligned && !converged(w, m)) return Next::blocked;
    Cluster& c = *w.cta->cluster;
    for_lanes(m, [&](int l) {
      if (!relaxed) w.run->release(w, l, c.gathering);
      // A fence before it releases all the same; fence.mbarrier_init does so for fresh mbarriers.
      lane_of(w, l).fenced.join_into(c.gathering, Scope::cluster);
      c.gathering.all.join(lane_of(w, l).inits);
    });
    c.arrived += std::popcount(m);
    if (c.arrived >= live_threads(c)) {
      c.finished = std::move(c.gathering);
      c.gathering = {};
      c.arrived = 0;
      ++c.round;
      c.opened_by = w.run->opening_event("arrives, and opens the cluster's barrier");
    }
    for_lanes(m, [&](int l) { lane_of(w, l).cluster_round += 1; });
    w.run->changed();
    return Next::step;
  };
}

Action cluster_wait(Decoder&, const Instruction& i) {
  const bool aligned = i.has("aligned");
  return [=](Warp& w, Mask m) {
    if (aligned && !converged(w, m)) return Next::blocked;
    Cluster& c = *w.cta->cluster;
    const std::uint64_t wanted = lane_of(w, std::countr_zero(m)).cluster_round;
    if (wanted == 0 || wanted < c.round)
      throw Violation("cluster.wait", "barrier.cluster.wait without an arrive before it");
    if (c.round < wanted) {
      w.current->wait =
          Wait{[&c, wanted] { return c.round >= wanted || c.arrived >= live_threads(c); },
               "the cluster's barrier (" + std::to_string(c.arrived) + " of " +
                   std::to_string(live_threads(c)) + " threads are there)",
               {},
               &c.opened_by};
      // Threads that left no longer count.
      if (c.arrived >= live_threads(c)) {
        c.finished = std::move(c.gathering);
        c.gathering = {};
        c.arrived = 0;
        ++c.round;
        c.opened_by = -1;
      }
      return Next::blocked;
    }
    for_lanes(m, [&](int l) { lane_of(w, l).knows.join(c.finished); });
    return Next::step;
  };
}

// --- fences ---

// fence.sc, fence.acq_rel, membar: what relaxed reads before it saw is acquired, what relaxed
// writes after it announce is all up to here; from and to threads that its scope takes in.
Action order(Decoder&, const Instruction& i) {
  const bool membar = i.parts[0] == "membar";
  if (membar && !i.has("cta") && !i.has("gl") && !i.has("sys")) unknown_part(i, i.parts.back());
  const Scope scope = i.has("cta") ? Scope::cta : i.has("cluster") ? Scope::cluster : Scope::gpu;
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Lane& lane = lane_of(w, l);
      if (lane.has_observed) {
        lane.has_observed = false;
        for (std::size_t s = 0; s < kScopes; ++s) {
          if (s < static_cast<std::size_t>(scope)) {
            lane.knows.join(lane.observed[s]);
            lane.observed[s] = {};
          } else {  // a wider fence may still come
            lane.knows.narrow.join(lane.observed[s].all);
            lane.has_observed = true;
          }
        }
      }
      Knowledge now;
      w.run->release(w, l, now);
      const std::size_t own = static_cast<std::size_t>(scope) - 1;
      for (std::size_t s = 0; s < own; ++s) lane.fenced[s] = {};
      lane.fenced[own] = std::move(now);
    });
    return Next::step;
  };
}

// The mbarriers of `cta` whose making this lane knows of are visible to the asynchronous operations
// of whoever knows of `fence`.
void show_mbarriers(Cta& cta, const Lane& lane, Epoch fence) {
  for (auto& [offset, b] : cta.mbarriers) {
    const auto known = [&](Epoch shown) { return lane.knows.all.covers(shown); };
    if (known(b.init) && std::ranges::none_of(b.shown, known)) b.shown.push_back(fence);
  }
}

// fence.proxy.tensormap::generic.release.scope, and .acquire.scope [map], 128: orders as a fence of
// the scope, and what is known here of the map becomes visible to copies by it.
Action tensor_map_fence(Decoder& d, const Instruction& i) {
  const Action ordering = order(d, i);
  if (!i.has("acquire")) return ordering;
  const AddressOperand map = d.address(i.operands.at(0));
  return [=](Warp& w, Mask m) {
    ordering(w, m);
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      Lane& lane = lane_of(w, l);
      const Where where = run.resolve(w, l, Space::generic, address_at(w, map, l), 128, 128);
      const Epoch own{w.cta->thread_base + static_cast<Component>(w.thread(l)), lane.time++};
      Clock seen = lane.knows.all;
      seen.raise(own);
      if (where.array != nullptr) run.fence_map(where.array->base + where.at, own, seen);
    });
    return Next::step;
  };
}

// tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned
// [to], [from], 128: a warp copies a map that it made in shared memory, and releases it.
Action copy_map(Decoder& d, const Instruction& i) {
  const Action ordering = order(d, i);
  const AddressOperand to = d.address(i.operands.at(0)), from = d.address(i.operands.at(1));
  const auto size = Decoder::immediate(i.operands.at(2), "the size");
  if (size != 128) throw Violation("tensormap.size", "a tensor map has 128 bytes");
  return [=](Warp& w, Mask m) {
    if (!whole_warp(w, m)) return Next::blocked;
    Run& run = *w.run;
    const int l = run.lane_now = std::countr_zero(m);
    const Where source = run.resolve(w, l, Space::shared, address_at(w, from, l), 128, 128),
                target = run.resolve(w, l, Space::global, address_at(w, to, l), 128, 128);
    run.check_read(source, 128, run.actor(w, l));
    run.check_write(target, 128, run.actor(w, l));
    std::memcpy(target.bytes, source.bytes, 128);
    run.changed();
    return ordering(w, m);
  };
}

// fence.proxy.async[.space]: ordinary accesses known here become visible to asynchronous
// operations. Of .shared::cta, those to the CTA's own shared memory.
Action proxy(Decoder& d, const Instruction& i) {
  const bool own_shared = i.has("shared::cta"), global = i.has("global");
  const bool shared = own_shared || i.has("shared::cluster");
  if (i.opcode.starts_with("fence.proxy.tensormap::generic")) return tensor_map_fence(d, i);
  if (!i.has("async") && !i.has("alias") && i.opcode.find("async::generic") == std::string::npos)
    unknown_part(i, i.parts.back());
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Lane& lane = lane_of(w, l);
      const Epoch own{w.cta->thread_base + static_cast<Component>(w.thread(l)), lane.time};
      if (w.run->wrote_to_others() && own_shared) {
        const auto threads = static_cast<Component>(w.run->threads_per_cta());
        const Component first = w.cta->thread_base;
        lane.knows.async_other.join_outside(lane.knows.all, first, first + threads);
      } else if (w.run->wrote_to_others() && !global) {
        lane.knows.async_other.join(lane.knows.all);
        lane.knows.async_other.raise(own);
      }
      if (shared || !global) {
        lane.knows.async_shared.join(lane.knows.all);
        lane.knows.async_shared.join(lane.knows.settled);
        lane.knows.async_shared.raise(own);
        lane.knows.own_fenced.raise(own);
        if (own_shared)
          show_mbarriers(*w.cta, lane, own);
        else
          for (Cta* cta : w.cta->cluster->ctas) show_mbarriers(*cta, lane, own);
      }
      if (global || !shared) {
        lane.knows.async_global.join(lane.knows.all);
        lane.knows.async_global.join(lane.knows.settled);
        lane.knows.async_global.raise(own);
      }
      ++lane.time;
    });
    return Next::step;
  };
}

Action mbarrier_init_fence(Decoder&, const Instruction&) {
  return [](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Lane& lane = lane_of(w, l);
      const auto thread = w.cta->thread_base + static_cast<Component>(w.thread(l));
      const Epoch fence{w.run->new_component(), 1};
      lane.knows.all.raise(fence);
      for (auto& [offset, b] : w.cta->mbarriers)
        if (b.init_thread == thread) {
          b.shown.push_back(fence);
          lane.inits.raise(b.init);
          lane.inits.raise(fence);
        }
    });
    return Next::step;
  };
}

}  // namespace

void add_barriers(Meanings& all) {
  all.add("bar", named_barrier);
  all.add("barrier", named_barrier);
  all.add("barrier.cluster.arrive", cluster_arrive);
  all.add("barrier.cluster.wait", cluster_wait);
}

void add_fences(Meanings& all) {
  all.add("fence", order);
  all.add("membar", order);
  all.add("fence.proxy", proxy);
  all.add("membar.proxy", proxy);
  all.add("fence.mbarrier_init", mbarrier_init_fence);
  all.add("tensormap.cp_fenceproxy", copy_map);
}

}  // namespace assay::model

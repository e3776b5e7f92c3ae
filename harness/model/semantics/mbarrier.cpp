// SPDX-License-Identifier: Apache-2.0
#include "harness/model/semantics/mbarrier.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "harness/model/semantics/lanes.hpp"

namespace assay::model {
namespace {

constexpr std::uint32_t kMostArrivals = (1u << 20) - 1;

std::string name_of(std::uint32_t address) {
  char text[40];
  std::snprintf(text, sizeof text, "the mbarrier at 0x%x", address);
  return text;
}

// Ends the phase if all arrivals and bytes have come.
void settle(Run& run, Mbarrier& b) {
  if (b.pending != 0 || b.bytes != 0) return;
  for (const Mbarrier::Waiter& waiter : b.waiters)
    if (waiter.phase + 1 <= b.phase) {
      run.report("mbarrier.overrun",
                 "a second phase of an mbarrier ends before a thread that waits for the first has "
                 "seen it end: the parity that it waits for is gone",
                 run.place_of(waiter.warp->cta->thread_base +
                                  static_cast<Component>(waiter.warp->index * 32),
                              waiter.site),
                 nullptr, "make whoever ends the next phase wait for this thread");
    }
  b.finished = std::move(b.gathering);
  b.gathering = {};
  b.finished_wide = std::move(b.gathering_wide);
  b.gathering_wide.reset();
  b.finished.all.raise({b.component, b.phase + 1});
  ++b.phase;
  b.opened_by = run.opening_event("arrives, and ends a phase of an mbarrier");
  b.pending = b.expected;
  run.changed();
}

}  // namespace

Mbarrier& mbarrier_at(Run& run, Cta& from, std::uint32_t address, const Knowledge* user,
                      Cta** owner) {
  const Where where = run.resolve_shared(from, address, 8, 8);
  if (owner != nullptr) *owner = where.cta;
  const std::uint32_t offset = address & ((1u << kRankShift) - 1);
  const auto found = where.cta->mbarriers.find(offset);
  if (found == where.cta->mbarriers.end())
    throw Violation("mbarrier.uninitialized", "there is no mbarrier at shared address " +
                                                  name_of(address).substr(16) +
                                                  ": mbarrier.init has not come to it");
  Mbarrier& b = found->second;
  if (user != nullptr && !user->all.covers(b.init)) {
    const Place init = run.place_of(b.init_thread, b.init_site);
    run.report("mbarrier.init_not_seen",
               name_of(address) + " is used by a thread that nothing tells of its mbarrier.init",
               run.place_of(run.current_thread(), run.current_site()), &init,
               "a barrier of the CTA or cluster between mbarrier.init and the first use");
    b.init = {};
  }
  return b;
}

void mbarrier_for_async(Run& run, const Mbarrier& b, const Knowledge& user) {
  if (std::ranges::any_of(b.shown, [&](Epoch fence) { return user.all.covers(fence); })) return;
  const Place init = run.place_of(b.init_thread, b.init_site);
  run.report("mbarrier.init_not_fenced",
             "an asynchronous operation is to complete on an mbarrier whose mbarrier.init was not "
             "made visible to it",
             run.place_of(run.current_thread(), run.current_site()), &init,
             "fence.mbarrier_init.release.cluster after mbarrier.init, by the same thread, before "
             "the barrier that leads to the operation");
}

void mbarrier_arrive(Run& run, Mbarrier& b, std::uint32_t count, std::int64_t bytes) {
  b.bytes += bytes;
  if (b.bytes >= 1 << 20 || b.bytes <= -(1 << 20))
    throw Violation("mbarrier.tx_count", "the transaction count would be " +
                                             std::to_string(b.bytes) + ", beyond 2^20 - 1");
  if (count > b.pending)
    throw Violation("mbarrier.too_many_arrivals",
                    std::to_string(count) + " arrivals, and the phase expects only " +
                        std::to_string(b.pending) + " more of its " + std::to_string(b.expected));
  b.pending -= count;
  if (bytes > 0) {
    b.announced = true;
    b.expect_site = run.current_site();
    b.expect_thread = run.current_thread();
  }
  run.changed();
  settle(run, b);
}

void mbarrier_complete(Run& run, Mbarrier& b, std::int64_t bytes, std::uint32_t phase) {
  if (b.phase != phase)
    run.report("mbarrier.tx_phase",
               "an operation of " + std::to_string(bytes) +
                   " bytes completes after the phase it belongs to has ended: the phase did not "
                   "expect its bytes",
               "expect_tx of all bytes before the last arrival of the phase");
  b.bytes -= bytes;
  run.changed();
  settle(run, b);
}

namespace {

std::uint32_t shared_at(Warp& w, const AddressOperand& a, int l, bool generic) {
  Address address = address_at(w, a, l);
  if (generic) {
    if (address - kSharedWindow >= kWindowBytes)
      throw Violation("mbarrier.address", "the address is not in shared memory");
    address -= kSharedWindow;
  }
  return static_cast<std::uint32_t>(address);
}

bool generic_address(const Instruction& i) {
  for (const std::string& p : i.parts)
    if (p.starts_with("shared")) return false;
  return true;
}

Action init(Decoder& d, const Instruction& i) {
  const AddressOperand at = d.address(i.operands.at(0));
  const int count = d.source(i.operands.at(1));
  const bool generic = generic_address(i);
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      const std::uint32_t address = shared_at(w, at, l, generic);
      const Where where = run.resolve_shared(*w.cta, address, 8, 8);
      const auto expected = static_cast<std::uint32_t>(w.reg(count)[l]);
      if (expected == 0 || expected > kMostArrivals)
        throw Violation("mbarrier.count", "an mbarrier expects 1 to 2^20 - 1 arrivals, not " +
                                              std::to_string(expected));
      const std::uint32_t offset = address & ((1u << kRankShift) - 1);
      if (where.cta->mbarriers.contains(offset))
        run.report("mbarrier.init_again",
                   name_of(address) + " is live: mbarrier.inval comes first");
      const Actor actor = run.actor(w, l);
      where.shadow->mark_barrier(where.at, 8, false);
      run.check_write(where, 8, actor);
      Mbarrier b;
      b.expected = b.pending = expected;
      b.component = run.new_component();
      b.init = {run.new_component(), 1};
      w.lanes[static_cast<std::size_t>(l)].knows.all.raise(b.init);
      b.init_thread = actor.thread;
      b.init_site = actor.site;
      where.cta->mbarriers[offset] = std::move(b);
      where.shadow->mark_barrier(where.at, 8, true);
      run.changed();
    });
    return Next::step;
  };
}

Action invalidate(Decoder& d, const Instruction& i) {
  const AddressOperand at = d.address(i.operands.at(0));
  const bool generic = generic_address(i);
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      Run& run = *w.run;
      run.lane_now = l;
      const std::uint32_t address = shared_at(w, at, l, generic);
      const Actor actor = run.actor(w, l);
      Mbarrier& b = mbarrier_at(run, *w.cta, address, actor.knows);
      if (b.bytes != 0)
        run.report("mbarrier.inval_pending",
                   name_of(address) + " still expects " + std::to_string(b.bytes) + " bytes");
      const Where where = run.resolve_shared(*w.cta, address, 8, 8);
      where.cta->mbarriers.erase(address & ((1u << kRankShift) - 1));
      where.shadow->mark_barrier(where.at, 8, false);
      run.check_write(where, 8, actor);
    });
    return Next::step;
  };
}

// The opaque state that an arrival gives, of before it: the phase, and the arrivals that it lacks.
Value token_of(const Mbarrier& b) { return Value{b.pending} << 32 | b.phase; }

// What an arrival tells those who wait. Without .sem it is .release, without .scope .cta: then none
// but its own CTA may rely on the ordinary writes of a thread. Unspecified: whether another CTA may
// fill memory again that such an arrival hands back, as every published ring of multicast copies
// does; it may. PTX ISA 9.0, "mbarrier.arrive", "Memory Consistency Model: Scope".
void tell(Warp& w, int l, Mbarrier& b, bool own, bool relaxed, bool cluster) {
  Lane& lane = w.lanes[static_cast<std::size_t>(l)];
  if (own) {
    if (relaxed)
      lane.fenced.join_into(b.gathering, Scope::cta);
    else
      w.run->release(w, l, b.gathering);
    return;
  }
  const auto wide = [&]() -> Knowledge& {
    return b.gathering_wide ? *b.gathering_wide : b.gathering_wide.emplace();
  };
  if (lane.fenced.any()) {
    Knowledge fenced;
    lane.fenced.join_into(fenced, Scope::cluster);
    b.gathering.join_narrow(fenced);
    wide().join(fenced);
  }
  if (relaxed) return;
  Knowledge now;
  w.run->release(w, l, now);
  b.gathering.join_narrow(now);
  if (cluster) wide().join(now);
}

// What a thread learns that has seen a phase end; of what it may not take for granted yet, a fence
// makes it sure.
void learn(Lane& lane, const Mbarrier& b, bool relaxed, bool cluster) {
  const auto later = [&](Scope scope, const Knowledge& from) {
    lane.observed[static_cast<std::size_t>(scope) - 1].join(from);
    lane.has_observed = true;
  };
  if (relaxed)
    later(Scope::cta, b.finished);
  else
    lane.knows.join(b.finished);
  if (!b.finished_wide) return;
  if (relaxed || !cluster)
    later(Scope::cluster, *b.finished_wide);
  else
    lane.knows.join(*b.finished_wide);
}

// mbarrier.arrive[.expect_tx][.noComplete], mbarrier.arrive_drop: state token in the first operand.
Meaning arrive(bool drop) {
  return [drop](Decoder& d, const Instruction& i) -> Action {
    const bool expects = i.has("expect_tx");
    const int state = d.destination(i.operands.at(0));
    const AddressOperand at = d.address(i.operands.at(1));
    const int operand = i.operands.size() > 2 ? d.source(i.operands[2]) : d.constant(1);
    const bool generic = generic_address(i), relaxed = i.has("relaxed"), wide = i.has("cluster");
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        Run& run = *w.run;
        run.lane_now = l;
        Lane& lane = w.lanes[static_cast<std::size_t>(l)];
        Cta* owner = nullptr;
        Mbarrier& b = mbarrier_at(run, *w.cta, shared_at(w, at, l, generic), &lane.knows, &owner);
        const auto value = static_cast<std::uint32_t>(w.reg(operand)[l]);
        tell(w, l, b, owner == w.cta, relaxed, wide);
        w.reg(state)[l] = token_of(b);
        if (drop) {
          if (b.expected == 0) throw Violation("mbarrier.drop", "no arrivals are left to drop");
          b.expected -= expects ? 1 : value;
        }
        mbarrier_arrive(run, b, expects ? 1 : value, expects ? value : 0);
      });
      return Next::step;
    };
  };
}

Meaning transactions(bool complete) {
  return [complete](Decoder& d, const Instruction& i) -> Action {
    const AddressOperand at = d.address(i.operands.at(0));
    const int bytes = d.source(i.operands.at(1));
    const bool generic = generic_address(i);
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) {
        Run& run = *w.run;
        run.lane_now = l;
        Lane& lane = w.lanes[static_cast<std::size_t>(l)];
        Mbarrier& b = mbarrier_at(run, *w.cta, shared_at(w, at, l, generic), &lane.knows);
        const auto count = static_cast<std::int64_t>(low(w.reg(bytes)[l], 32));
        if (complete)
          mbarrier_complete(run, b, count, b.phase);
        else
          mbarrier_arrive(run, b, 0, count);
      });
      return Next::step;
    };
  };
}

// mbarrier.try_wait and test_wait: true if the phase of the parity (or token) has ended. A try_wait
// sleeps until then; one that answers "no" although it could wait is what a kernel must stand too.
Meaning wait(bool sleeps) {
  return [sleeps](Decoder& d, const Instruction& i) -> Action {
    const int out = d.destination(i.operands.at(0));
    const AddressOperand at = d.address(i.operands.at(1));
    const int operand = d.source(i.operands.at(2));
    const bool parity = i.has("parity"), generic = generic_address(i), relaxed = i.has("relaxed"),
               wide = i.has("cluster");
    return [=](Warp& w, Mask m) {
      Run& run = *w.run;
      bool missing = false;
      Mbarrier* first = nullptr;
      for_lanes(m, [&](int l) {
        run.lane_now = l;
        Lane& lane = w.lanes[static_cast<std::size_t>(l)];
        const std::uint32_t address = shared_at(w, at, l, generic);
        if (static_cast<int>(address >> kRankShift) != w.cta->rank)
          throw Violation("mbarrier.remote_wait",
                          "a thread may wait only for its own CTA's mbarriers");
        Mbarrier& b = mbarrier_at(run, *w.cta, address, &lane.knows);
        const auto wanted = static_cast<std::uint32_t>(w.reg(operand)[l]);
        const bool ended = parity ? ((b.phase - 1) & 1) == (wanted & 1) : b.phase != wanted;
        w.reg(out)[l] = ended;
        if (ended) {
          learn(lane, b, relaxed, wide);
        } else {
          missing = true;
          first = &b;
        }
      });
      if (first != nullptr)
        std::erase_if(first->waiters, [&](const auto& x) { return x.warp == &w; });
      if (!missing) {
        for_lanes(m, [&](int l) {
          const std::uint32_t address = shared_at(w, at, l, generic);
          auto& waiters = mbarrier_at(run, *w.cta, address, nullptr).waiters;
          std::erase_if(waiters, [&](const auto& x) { return x.warp == &w; });
        });
        return Next::step;
      }
      // Now and then the answer is "not yet", as silicon's is after its time limit.
      const bool gives_up = run.options().seed > 1 && run.random(16) == 0;
      if (!sleeps || gives_up || std::exchange(w.current->in_vain, false)) return Next::yield;
      Mbarrier& b = *first;
      const std::uint32_t phase = b.phase;
      b.waiters.push_back({&w, phase, run.current_site()});
      char text[200];
      std::snprintf(text, sizeof text,
                    "%s (phase %u runs, %u of %u arrivals and %lld bytes are missing)",
                    name_of(shared_at(w, at, std::countr_zero(m), generic)).c_str(), b.phase,
                    b.pending, b.expected, static_cast<long long>(b.bytes));
      w.current->wait =
          Wait{[&b, phase] { return b.phase != phase; }, text, {}, &b.opened_by, true};
      return Next::blocked;
    };
  };
}

}  // namespace

void add_mbarriers(Meanings& all) {
  all.add("mbarrier.init", init);
  all.add("mbarrier.inval", invalidate);
  all.add("mbarrier.arrive", arrive(false));
  all.add("mbarrier.arrive_drop", arrive(true));
  all.add("mbarrier.expect_tx", transactions(false));
  all.add("mbarrier.complete_tx", transactions(true));
  all.add("mbarrier.try_wait", wait(true));
  all.add("mbarrier.test_wait", wait(false));
  all.add("mbarrier.pending_count", [](Decoder& d, const Instruction& i) -> Action {
    const int out = d.destination(i.operands.at(0)), state = d.source(i.operands.at(1));
    return [=](Warp& w, Mask m) {
      for_lanes(m, [&](int l) { w.reg(out)[l] = w.reg(state)[l] >> 32; });
      return Next::step;
    };
  });
}

}  // namespace assay::model

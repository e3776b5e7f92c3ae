// SPDX-License-Identifier: Apache-2.0
// Whether an access comes after another one, as the fences and barriers between them say; and what
// is wrong if it does not.
#include <fmt/format.h>

#include <algorithm>

#include "harness/model/machine/run.hpp"

namespace assay::model {
namespace {

std::string line_of(const Place& p) {
  std::string text = fmt::format("thread {} of CTA {}", p.thread, p.cta[0]);
  if (p.cta[1] != 0 || p.cta[2] != 0) text += fmt::format(",{},{}", p.cta[1], p.cta[2]);
  const auto at = [](const std::string& file, int line) {
    return file.substr(file.rfind('/') + 1) + ":" + std::to_string(line);
  };
  if (!p.callers.empty())
    text += " at " + at(p.callers.back().file, p.callers.back().line);
  else if (!p.file.empty())
    text += " at " + at(p.file, p.line);
  else
    text += " at PTX line " + std::to_string(p.ptx_line);
  return text;
}

}  // namespace

bool Run::ordered(const Access& before, const Actor& actor, const Where& where, bool was_write,
                  bool writes) const {
  const Epoch& e = before.epoch;
  if (e.time == 0) return true;
  const Knowledge& k = *actor.knows;
  if (is_past(e.component)) return k.all.covers(e) || had_ended(e.component);
  if (actor.reads_map) return map_fenced(before, actor, where);
  const Clock& fenced = where.shared ? k.async_shared : k.async_global;
  if ((e.component & kAsynchronous) != 0) {
    // Two operations of one phase or group are in no order; of tensor memory their pipe has one.
    if (e.component == actor.epoch.component)
      return where.shared || where.array ? e.time < actor.epoch.time : e.time <= actor.epoch.time;
    // cp.async is of the generic proxy.
    return k.all.covers(e) && (!actor.asynchronous || !is_generic(e.component) || fenced.covers(e));
  }
  const bool known = before.thread == actor.thread || k.all.covers(e) ||
                     settled(before, actor, where, was_write, writes);
  if (!actor.asynchronous || !known) return known;
  if (was_write && where.shared && where.cta != cta_of(before.thread))
    return k.async_other.covers(e);
  return fenced.covers(e) && !(was_write && late_fence(before, actor, where));
}

// What a thread has handed back to another CTA at its own CTA's scope may be written over: what it
// read, and what it wrote to its own CTA's shared memory, which is in one place.
bool Run::settled(const Access& before, const Actor& actor, const Where& where, bool was_write,
                  bool writes) const {
  if (!writes || !actor.knows->settled.covers(before.epoch)) return false;
  return !was_write || (where.shared && where.cta == cta_of(before.thread));
}

// A copy sees what was written to its map if a fence of the map, known to whoever starts it, knew
// of that.
bool Run::map_fenced(const Access& before, const Actor& actor, const Where& where) const {
  const auto fences = map_fences_.find(where.array->base + where.at / 128 * 128);
  return fences != map_fences_.end() && std::ranges::any_of(fences->second, [&](const MapFence& f) {
           const bool own = f.fence.component == actor.thread;
           return (own || actor.knows->all.covers(f.fence)) && f.seen.covers(before.epoch);
         });
}

// What a thread of the CTA wrote to shared memory it must fence itself, before it meets the thread
// that issues the operation.
bool Run::late_fence(const Access& before, const Actor& actor, const Where& where) const {
  const auto threads = static_cast<std::uint32_t>(threads_per_cta_);
  return where.shared && before.thread != actor.thread &&
         before.thread / threads == actor.thread / threads &&
         !actor.knows->own_fenced.covers(before.epoch);
}

// Strong accesses race with nobody whom the scopes of both take in.
bool Run::both_strong(const Actor& actor, const Access& before) const {
  const Scope narrower = std::min(actor.strong, static_cast<Scope>(before.strong));
  if (narrower == Scope::none || narrower == Scope::gpu) return narrower == Scope::gpu;
  return distance(*cta_of(actor.thread), *cta_of(before.thread)) <= narrower;
}

// A grid begins when the one before lets it, or has ended. What that one had waited for by then has
// ended.
bool Run::had_ended(Component strand) const {
  const Component ago = strand & ~kAsynchronous;
  if (ago < 2 || !past_.front().let_begin_late) return false;
  return std::ranges::all_of(past_.subspan(1, ago - 2), &PastGrid::waited);
}

void Run::let_next_begin(const Warp& warp, int lane) {
  const Knowledge& knows = warp.lanes[static_cast<std::size_t>(lane)].knows;
  if (!past_.empty() && !knows.all.covers({grid_strand(1), 1})) let_begin_early_ = true;
}

void Run::wait_for_grids(Warp& warp, int lane) {
  waited_for_grids_ = true;
  Knowledge& knows = warp.lanes[static_cast<std::size_t>(lane)].knows;
  for (std::size_t ago = 1; ago <= past_.size(); ++ago) {
    knows.all.raise({grid_strand(static_cast<Component>(ago)), 1});
    if (!past_[ago - 1].waited) break;
  }
}

void Run::report_before_wait(const Where& where, const Actor& actor, bool writes,
                             const Access& other, bool other_writes) {
  const std::size_t ago = other.epoch.component & ~kAsynchronous;
  const PastGrid& past = past_[ago - 1];
  const Place here = place_of(actor.thread, actor.site);
  const Place there = place_in(*past.program, past.shape, other.thread, other.site);
  std::string mend =
      "griddepcontrol.wait before it, by this thread or by one that it meets after that";
  if (ago > 1)
    mend += "; and in every grid between the two, whose end is not the end of those before it";
  report("grid.before_wait",
         fmt::format("{}{} {} '{}' at byte {}, which {} of the kernel '{}', launched before this "
                     "one, may still be {}",
                     actor.asynchronous ? "an asynchronous operation of " : "", line_of(here),
                     writes ? "writes" : "reads", where.array->name, where.at, line_of(there),
                     there.kernel, other_writes ? "writing" : "reading"),
         here, &there, mend);
}

void Run::race(const char* rule, const Where& where, const Actor& actor, bool writes,
               const Access& other, bool other_writes) {
  if (is_past(other.epoch.component))
    return report_before_wait(where, actor, writes, other, other_writes);
  const bool other_async = (other.epoch.component & kAsynchronous) != 0;
  // Is it order that lacks, or only the proxy fence?
  const bool known = actor.knows->all.covers(other.epoch) || other.thread == actor.thread ||
                     settled(other, actor, where, other_writes, writes);
  const bool map = actor.reads_map && known;
  const bool proxy = actor.asynchronous && !actor.reads_map &&
                     (!other_async || is_generic(other.epoch.component)) && known;
  const bool late = proxy && other_writes && !other_async &&
                    actor.knows->async_shared.covers(other.epoch) &&
                    late_fence(other, actor, where);
  const Place here = place_of(actor.thread, actor.site), there = place_of(other.thread, other.site);
  std::string place =
      where.shared
          ? "shared memory at offset " + fmt::format("{:#x}", where.at)
          : fmt::format("'{}' at byte {}", where.array ? where.array->name : "memory", where.at);
  const std::string mine = std::string(actor.asynchronous ? "an asynchronous operation of " : "") +
                           line_of(here) + (writes ? " writes " : " reads ");
  const std::string theirs =
      std::string(other_async ? "what an asynchronous operation of " : "what ") + line_of(there) +
      (other_writes ? (other_async && !actor.asynchronous ? " may still be writing" : " wrote")
                    : (other_async ? " may still be reading" : " read"));
  std::string name = rule, mend, reason = ", and nothing orders the two";
  const bool narrow =
      actor.knows->narrow.covers(other.epoch) || (actor.strong != Scope::none && other.strong != 0);
  if (map) {
    name = "proxy.tensor_map";
    reason = ", with no fence of this tensor map between the two";
    mend =
        "fence.proxy.tensormap::generic.acquire of the map, by a thread that knows of the write, "
        "before the copy";
  } else if (narrow && !proxy) {
    name = "race.scope";
    reason = ", and the scope of what orders the two does not take in both threads";
    mend =
        "a wider scope (.cluster, .gpu) of the fence, the store, the load, or of both the "
        "mbarrier's arrive and its wait between them";
  } else if (late) {
    name = "proxy.shared_late";
    reason = ", and the proxy fence between the two is another thread's, after they met";
    mend =
        "fence.proxy.async by the thread that wrote, before the barrier that leads to the "
        "asynchronous operation";
  } else if (proxy) {
    name = other_writes ? (where.shared ? "proxy.shared" : "proxy.global")
                        : (where.shared ? "proxy.shared_read" : "proxy.global_read");
    reason = ", with no proxy fence between the two";
    const bool of_others = where.shared && other_writes && where.cta != cta_of(other.thread);
    mend = std::string("fence.proxy.async") +
           (of_others      ? ", not of shared::cta, which is the own CTA's memory alone,"
            : where.shared ? " (shared::cta)"
                           : " (global)") +
           " by the thread that made the ordinary access, before the synchronization that leads to "
           "the asynchronous operation";
  } else if (other_async && other_writes && !writes) {
    name = where.shared ? "async.read_before_complete" : "async.global_read_before_complete";
    mend = "wait for its mbarrier, bulk group or cp.async group before the read";
  } else if (other_async && !other_writes) {
    name = "async.overwritten_while_read";
    mend = "wait until the operation has read its source (its mbarrier, or wait_group.read)";
  } else if (actor.asynchronous && writes) {
    name = where.shared ? "async.overwrites_unread" : "async.overwrites_global";
    mend = "let the readers say that they are done before the buffer is filled again";
  }
  report(name, mine + place + ", " + theirs + reason, here, &there, mend);
}

}  // namespace assay::model

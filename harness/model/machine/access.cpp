// SPDX-License-Identifier: Apache-2.0
// Where an address lies, and what the checker has to say of an access there.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "harness/model/machine/run.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string line_of(const Place& p) {
  std::string text = "thread " + std::to_string(p.thread) + " of CTA " + std::to_string(p.cta[0]);
  if (p.cta[1] != 0 || p.cta[2] != 0)
    text += "," + std::to_string(p.cta[1]) + "," + std::to_string(p.cta[2]);
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

Where Run::resolve_shared(Cta& from, std::uint32_t address, std::size_t bytes, std::size_t align) {
  const auto rank = address >> kRankShift;
  const std::uint32_t offset = address & ((1u << kRankShift) - 1);
  if (rank >= from.cluster->ctas.size())
    throw Violation("cluster.rank", "shared address " + hex(address) + " is of CTA " +
                                        std::to_string(rank) + ", but the cluster has " +
                                        std::to_string(from.cluster->ctas.size()));
  Cta& cta = *from.cluster->ctas[rank];
  if (cta.left && &cta != &from)
    throw Violation("cluster.left", "shared address " + hex(address) + " is of CTA " +
                                        std::to_string(rank) +
                                        " of the cluster, which has left already");
  if (&cta != &from && from.cluster->round == 0)
    throw Violation("cluster.not_begun", "shared address " + hex(address) + " is of CTA " +
                                             std::to_string(rank) +
                                             " of the cluster, and no barrier of the cluster has "
                                             "shown that it has begun");
  if (offset < kSharedBegin || offset + bytes > cta.shared.size())
    throw Violation("memory.shared_bounds",
                    std::to_string(bytes) + " bytes at shared address " + hex(address) +
                        " are outside of the CTA's " +
                        std::to_string(cta.shared.size() -
                                       std::min<std::size_t>(cta.shared.size(), kSharedBegin)) +
                        " bytes, which begin at " + hex(kSharedBegin));
  if (align > 1 && offset % align != 0)
    throw Violation("memory.alignment", "shared address " + hex(address) +
                                            " is not a multiple of " + std::to_string(align));
  return {cta.shared.data() + offset, cta.shadow.get(), offset, true, &cta, nullptr};
}

Where Run::resolve_global(Address address, std::size_t bytes, std::size_t align) {
  Array* array = memory_.find(address, bytes);
  if (array == nullptr) {
    std::string text =
        std::to_string(bytes) + " bytes at address " + hex(address) + " are outside of every array";
    if (const Array* near = memory_.nearest(address); near != nullptr)
      text += "; the closest below is '" + near->name + "' of " +
              std::to_string(near->bytes.size()) + " bytes, at " + hex(near->base) +
              " (this is byte " + std::to_string(address - near->base) + ")";
    throw Violation("memory.global_bounds", text);
  }
  if (align > 1 && address % align != 0)
    throw Violation("memory.alignment",
                    "address " + hex(address) + " is not a multiple of " + std::to_string(align));
  const std::size_t at = address - array->base;
  return {array->bytes.data() + at, &array->shadow, at, false, nullptr, array};
}

Where Run::resolve(Warp& warp, int lane, Space space, Address address, std::size_t bytes,
                   std::size_t align) {
  if (space == Space::generic) {
    if (address - kSharedWindow < kWindowBytes) {
      space = Space::shared;
      address -= kSharedWindow;
    } else if (address - kLocalWindow < kWindowBytes) {
      space = Space::local;
      address -= kLocalWindow;
    } else {
      space = Space::global;
    }
  }
  if (space == Space::shared)
    return resolve_shared(*warp.cta, static_cast<std::uint32_t>(address), bytes, align);
  if (space == Space::local) {
    auto& local = warp.local.at(static_cast<std::size_t>(lane));
    if (address + bytes > local.size())
      throw Violation("memory.local_bounds", std::to_string(bytes) + " bytes at local address " +
                                                 hex(address) + " of " +
                                                 std::to_string(local.size()));
    if (align > 1 && address % align != 0)
      throw Violation("memory.alignment", "local address " + hex(address) +
                                              " is not a multiple of " + std::to_string(align));
    return {local.data() + address, nullptr, 0, false, nullptr, nullptr};
  }
  return resolve_global(address, bytes, align);
}

Actor Run::actor(Warp& warp, int lane, Scope strong) {
  Lane& l = warp.lanes[static_cast<std::size_t>(lane)];
  const auto thread = warp.cta->thread_base + static_cast<Component>(warp.thread(lane));
  return {{thread, l.time}, &l.knows, false, strong, thread, decoded_->site, ""};
}

Actor Run::issuer(Warp& warp, int lane, Epoch epoch, const char* doing) {
  Actor a = actor(warp, lane);
  a.epoch = epoch;
  a.asynchronous = true;
  a.doing = doing;
  return a;
}

// Neighbours were mostly accessed together: what was said of one holds for the next.
struct Run::Answer {
  Access of;
  bool is = true;  // what nobody accessed is in order

  bool ordered(const Run& run, const Access& before, const Actor& actor, const Where& where,
               bool was_write) {
    if (before == of) return is;
    of = before;
    return is = run.ordered(before, actor, where, was_write);
  }
};

bool Run::ordered(const Access& before, const Actor& actor, const Where& where,
                  bool was_write) const {
  const Epoch& e = before.epoch;
  if (e.time == 0) return true;
  const Knowledge& k = *actor.knows;
  const Clock& fenced = where.shared ? k.async_shared : k.async_global;
  if ((e.component & kAsynchronous) != 0) {
    // Two operations of one phase or group are in no order; of tensor memory their pipe has one.
    if (e.component == actor.epoch.component)
      return where.shared || where.array ? e.time < actor.epoch.time : e.time <= actor.epoch.time;
    // cp.async is of the generic proxy.
    return k.all.covers(e) && (!actor.asynchronous || !is_generic(e.component) || fenced.covers(e));
  }
  if (!actor.asynchronous) return before.thread == actor.thread || k.all.covers(e);
  if (!fenced.covers(e)) return false;
  return !was_write || !late_fence(before, actor, where);
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
  const auto cta_of = [&](std::uint32_t thread) -> const Cta& {
    return *ctas_[thread / static_cast<std::uint32_t>(threads_per_cta_)];
  };
  return distance(cta_of(actor.thread), cta_of(before.thread)) <= narrower;
}

void Run::race(const char* rule, const Where& where, const Actor& actor, bool writes,
               const Access& other, bool other_writes) {
  const bool other_async = (other.epoch.component & kAsynchronous) != 0;
  // Is it order that lacks, or only the proxy fence?
  const bool proxy = actor.asynchronous && (!other_async || is_generic(other.epoch.component)) &&
                     (actor.knows->all.covers(other.epoch) || other.thread == actor.thread);
  const bool late = proxy && other_writes && !other_async &&
                    actor.knows->async_shared.covers(other.epoch) &&
                    late_fence(other, actor, where);
  const Place here = place_of(actor.thread, actor.site), there = place_of(other.thread, other.site);
  std::string place = where.shared ? "shared memory at offset " + hex(where.at)
                                   : "'" + (where.array ? where.array->name : "memory") +
                                         "' at byte " + std::to_string(where.at);
  const std::string mine = std::string(actor.asynchronous ? "an asynchronous operation of " : "") +
                           line_of(here) + (writes ? " writes " : " reads ");
  const std::string theirs =
      std::string(other_async ? "what an asynchronous operation of " : "what ") + line_of(there) +
      (other_writes ? (other_async && !actor.asynchronous ? " may still be writing" : " wrote")
                    : (other_async ? " may still be reading" : " read"));
  std::string name = rule, mend, reason = ", and nothing orders the two";
  const bool narrow =
      actor.knows->narrow.covers(other.epoch) || (actor.strong != Scope::none && other.strong != 0);
  if (narrow && !proxy) {
    name = "race.scope";
    reason = ", and the scope of what orders the two does not take in both threads";
    mend = "a wider scope (.cluster, .gpu) of the fence, the store or the load between them";
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
    mend =
        std::string("fence.proxy.async (") + (where.shared ? "shared::cta" : "global") +
        ") by the thread that made the ordinary access, before the synchronization that leads to "
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

void Run::check_read(const Where& where, std::size_t bytes, const Actor& actor) {
  if (where.shadow == nullptr || !options_.check) return;
  bool said = false, said_barrier = false;
  const auto say_uninitialized = [&](std::size_t at) {
    said = true;
    report(where.shared ? "memory.uninitialized_shared" : "memory.uninitialized_global",
           std::string(where.shared ? "shared memory at offset " + hex(at)
                                    : "'" + where.array->name + "' at byte " + std::to_string(at)) +
               " is read and was never written",
           place_of(actor.thread, actor.site), nullptr);
  };
  // What nobody may write needs no order: parameters, which every thread reads.
  if (where.array != nullptr && !where.array->writable) {
    where.shadow->access(where.at, bytes, [&](const Cell& cell, std::size_t at) {
      if (!cell.initialized && !said) say_uninitialized(at);
    });
    return;
  }
  const Access now{actor.epoch, actor.site, actor.thread, static_cast<std::uint32_t>(actor.strong)};
  Answer written, read;
  where.shadow->access(where.at, bytes, [&](Cell& cell, std::size_t i) {
    if (cell.barrier && !said_barrier) {
      said_barrier = true;
      report("mbarrier.accessed", "an mbarrier's storage is read as ordinary memory",
             place_of(actor.thread, actor.site), nullptr);
    }
    if (!cell.initialized && !said && !cell.barrier) say_uninitialized(i);
    if (!said && !written.ordered(*this, cell.write, actor, where, true) &&
        !both_strong(actor, cell.write)) {
      said = true;
      Where at = where;
      at.at = i;
      race(where.shared ? "race.shared" : "race.global", at, actor, false, cell.write, true);
    }
    // Keep the reads that are not in order with each other.
    if (cell.read.epoch.time == 0 || cell.read.epoch.component == now.epoch.component ||
        read.ordered(*this, cell.read, actor, where, false)) {
      cell.read = now;
      return;
    }
    auto& list = where.shadow->reads(cell);
    bool known = false;
    for (Access& a : list)
      if (a.epoch.component == now.epoch.component) {
        a = now;
        known = true;
      }
    if (!known) list.push_back(now);
  });
}

void Run::check_write(const Where& where, std::size_t bytes, const Actor& actor) {
  if (where.array != nullptr && !where.array->writable)
    throw Violation("memory.read_only", "'" + where.array->name + "' may not be written");
  if (where.shadow == nullptr || !options_.check) return;
  const Access now{actor.epoch, actor.site, actor.thread, static_cast<std::uint32_t>(actor.strong)};
  bool said = false;
  const auto same_instruction = [&](const Access& a) {
    // Lanes of one warp that write the same place in one instruction: one of them wins.
    return a.site == actor.site && a.epoch.component / 32 == actor.epoch.component / 32 &&
           !actor.asynchronous;
  };
  Answer written, read;
  where.shadow->access(where.at, bytes, [&](Cell& cell, std::size_t i) {
    const auto say = [&](const Access& other, bool other_writes) {
      said = true;
      Where at = where;
      at.at = i;
      race(where.shared ? "race.shared" : "race.global", at, actor, true, other, other_writes);
    };
    if (cell.barrier && !said) {
      said = true;
      report("mbarrier.overwritten", "the storage of a live mbarrier is written as ordinary memory",
             place_of(actor.thread, actor.site), nullptr,
             "mbarrier.inval before its memory is used for something else");
    }
    if (!said && !written.ordered(*this, cell.write, actor, where, true) &&
        !both_strong(actor, cell.write) && !same_instruction(cell.write))
      say(cell.write, true);
    if (!said && !read.ordered(*this, cell.read, actor, where, false) &&
        !both_strong(actor, cell.read))
      say(cell.read, false);
    if (cell.more_reads != 0) {
      auto& list = where.shadow->reads(cell);
      for (const Access& a : list)
        if (!said && !ordered(a, actor, where, false) && !both_strong(actor, a)) say(a, false);
      list.clear();
    }
    cell.write = now;
    cell.read = {};
    cell.initialized = true;
  });
}

void Run::load(Warp& warp, int lane, Space space, Address address, void* to, std::size_t bytes,
               Scope strong) {
  lane_now = lane;
  const Where where = resolve(warp, lane, space, address, bytes, bytes);
  check_read(where, bytes, actor(warp, lane, strong));
  std::memcpy(to, where.bytes, bytes);
}

void Run::store(Warp& warp, int lane, Space space, Address address, const void* from,
                std::size_t bytes, Scope strong) {
  lane_now = lane;
  const Where where = resolve(warp, lane, space, address, bytes, bytes);
  check_write(where, bytes, actor(warp, lane, strong));
  std::memcpy(where.bytes, from, bytes);
  if (where.shadow != nullptr) changed();
}

Place Run::place(const Warp& warp, int lane) const {
  return place_of(warp.cta->thread_base + static_cast<Component>(warp.thread(lane)),
                  decoded_ != nullptr ? decoded_->site : 0);
}

Place Run::place_of(std::uint32_t thread, std::uint32_t site) const {
  Place p;
  p.kernel = program_.function->name;
  const int cta = static_cast<int>(thread) / threads_per_cta_;
  p.thread = static_cast<int>(thread) % threads_per_cta_;
  p.warp = p.thread / 32;
  p.lane = p.thread % 32;
  p.cta = {cta % shape_.grid[0], cta / shape_.grid[0] % shape_.grid[1],
           cta / shape_.grid[0] / shape_.grid[1]};
  if (static_cast<std::size_t>(cta) < ctas_.size() && ctas_[static_cast<std::size_t>(cta)])
    p.cta_rank = ctas_[static_cast<std::size_t>(cta)]->rank;
  if (site < program_.code.size()) {
    const Instruction& i = *program_.code[site].instruction;
    const auto name = [&](int number) {
      const auto file = module_.files.find(number);
      return file != module_.files.end() ? file->second : std::string();
    };
    p.file = name(i.source.file);
    for (const auto& [file, line] : i.source.callers) p.callers.push_back({name(file), line});
    p.line = i.source.line;
    p.ptx_line = i.text_line;
    p.instruction = i.opcode;
  }
  return p;
}

void Run::report(std::string rule, std::string text, std::string mend) {
  report(std::move(rule), std::move(text), acting_ != nullptr ? *acting_ : place(*now_, lane_now),
         nullptr, std::move(mend));
}

void Run::report(std::string rule, std::string text, const Place& at, const Place* other,
                 std::string mend) {
  for (Finding& f : outcome_.findings) {
    if (f.rule != rule || f.at.ptx_line != at.ptx_line) continue;
    if (f.has_other != (other != nullptr) || (other && f.other.ptx_line != other->ptx_line))
      continue;
    ++f.times;
    return;
  }
  Finding f{.rule = std::move(rule), .text = std::move(text), .at = at, .mend = std::move(mend)};
  if (other != nullptr) {
    f.has_other = true;
    f.other = *other;
  }
  outcome_.findings.push_back(std::move(f));
  if (static_cast<int>(outcome_.findings.size()) >= options_.most_findings) throw Stop{};
}

}  // namespace assay::model

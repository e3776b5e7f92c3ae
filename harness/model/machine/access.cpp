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
  // What goes on asynchronously has its addresses from elsewhere.
  if (&cta != &from && acting_ == nullptr && decoded_->own_shared)
    throw Violation("cluster.own_shared",
                    "shared address " + hex(address) + " is of CTA " + std::to_string(rank) +
                        " of the cluster, and this instruction is for shared memory of its own "
                        "CTA (.shared, .shared::cta): what it does there is undefined");
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
    const std::size_t size = program_.local_bytes;
    if (address > size || bytes > size - address)
      throw Violation("memory.local_bounds", std::to_string(bytes) + " bytes at local address " +
                                                 hex(address) + " of " + std::to_string(size));
    if (align > 1 && address % align != 0)
      throw Violation("memory.alignment", "local address " + hex(address) +
                                              " is not a multiple of " + std::to_string(align));
    return {warp.local[static_cast<std::size_t>(lane)].data() + address,
            nullptr,
            0,
            false,
            nullptr,
            nullptr};
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
               bool was_write, bool writes) {
    if (before == of) return is;
    of = before;
    return is = run.ordered(before, actor, where, was_write, writes);
  }
};

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
    if (!said && !written.ordered(*this, cell.write, actor, where, true, false) &&
        !both_strong(actor, cell.write)) {
      said = true;
      Where at = where;
      at.at = i;
      race(where.shared ? "race.shared" : "race.global", at, actor, false, cell.write, true);
    }
    // Keep the reads that are not in order with each other.
    if (cell.read.epoch.time == 0 || cell.read.epoch.component == now.epoch.component ||
        read.ordered(*this, cell.read, actor, where, false, false)) {
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
  if (where.shared && !actor.asynchronous) wrote_to_others_ |= where.cta != cta_of(actor.thread);
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
    if (!said && !written.ordered(*this, cell.write, actor, where, true, true) &&
        !both_strong(actor, cell.write) && !same_instruction(cell.write))
      say(cell.write, true);
    if (!said && !read.ordered(*this, cell.read, actor, where, false, true) &&
        !both_strong(actor, cell.read))
      say(cell.read, false);
    if (cell.more_reads != 0) {
      auto& list = where.shadow->reads(cell);
      for (const Access& a : list)
        if (!said && !ordered(a, actor, where, false, true) && !both_strong(actor, a))
          say(a, false);
      list.clear();
    }
    cell.write = now;
    cell.read = {};
    cell.initialized = true;
  });
}

void Run::check_non_coherent(const Where& where, std::size_t bytes, const Actor& actor) {
  if (where.shadow == nullptr || !options_.check) return;
  bool said = false;
  where.shadow->access(where.at, bytes, [&](const Cell& cell, std::size_t at) {
    if (said || cell.write.epoch.time == 0 || is_past(cell.write.epoch.component)) return;
    said = true;
    const Place there = place_of(cell.write.thread, cell.write.site);
    report("memory.non_coherent",
           "'" + where.array->name + "' at byte " + std::to_string(at) +
               " is read by a load that sees no writes of this kernel (.nc), and the kernel has "
               "written it",
           place_of(actor.thread, actor.site), &there,
           "an ordinary load: no __ldg, no const __restrict__");
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
  return place_in(program_, shape_, thread, site);
}

Place Run::place_in(const Program& program, const Shape& shape, std::uint32_t thread,
                    std::uint32_t site) const {
  Place p;
  p.kernel = program.function->name;
  const int threads = shape.block[0] * shape.block[1] * shape.block[2];
  const int cta = static_cast<int>(thread) / threads;
  p.thread = static_cast<int>(thread) % threads;
  p.warp = p.thread / 32;
  p.lane = p.thread % 32;
  p.cta = {cta % shape.grid[0], cta / shape.grid[0] % shape.grid[1],
           cta / shape.grid[0] / shape.grid[1]};
  for (std::size_t d = 3; d-- > 0;)
    p.cta_rank = p.cta_rank * shape.cluster[d] + p.cta[d] % shape.cluster[d];
  if (site < program.code.size()) {
    const Instruction& i = *program.code[site].instruction;
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
  report(std::move(rule), std::move(text),
         acting_ != nullptr ? place_of(acting_->thread, acting_->site) : place(*now_, lane_now),
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

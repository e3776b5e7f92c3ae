// SPDX-License-Identifier: Apache-2.0
#include "harness/model/semantics/copy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "harness/model/semantics/lanes.hpp"
#include "harness/model/semantics/mbarrier.hpp"
#include "harness/model/semantics/number.hpp"

namespace assay::model {
namespace {

// What 16 bytes with 6 bits each become: the 12 bytes of .b6p2x16's elements in global memory.
std::array<std::uint8_t, 12> pack_sixes(const std::uint8_t* from) {
  std::array<std::uint8_t, 12> to{};
  for (std::size_t bit = 0; bit < 96; ++bit)
    to[bit / 8] |= static_cast<std::uint8_t>((from[bit / 6] >> bit % 6 & 1) << bit % 8);
  return to;
}

}  // namespace

Transfer::Transfer(Run& run, std::vector<Chunk> chunks, std::vector<std::uint8_t> fill)
    : run_(run), chunks_(std::move(chunks)), fill_(std::move(fill)) {
  std::size_t bytes = 0;
  for (const Chunk& c : chunks_) bytes += c.bytes;
  what = "a copy of " + std::to_string(bytes) + " bytes";
}

void Transfer::completes_on(Cta& cta, std::uint32_t barrier, std::uint32_t phase,
                            std::int64_t bytes) {
  cta_ = &cta;
  barrier_ = barrier;
  phase_ = phase;
  bytes_ = bytes;
}

void Transfer::belongs_to(CommitGroups& groups) {
  groups_ = &groups;
  group_ = groups.open;
  ++groups.unread[group_];
  ++groups.unfinished[group_];
  ++groups.uncommitted;
}

void Transfer::read() {
  for (const Chunk& c : chunks_) {
    const std::size_t at = buffer_.size();
    buffer_.resize(at + c.bytes);
    if (c.from != nullptr) {
      std::copy_n(c.from, c.bytes, buffer_.begin() + static_cast<std::ptrdiff_t>(at));
      for (std::size_t k = 0; convert_ != nullptr && k + 4 <= c.bytes; k += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, buffer_.data() + at + k, 4);
        word = convert_(word);
        std::memcpy(buffer_.data() + at + k, &word, 4);
      }
    } else {
      for (std::size_t i = 0; i < c.bytes; ++i) buffer_[at + i] = fill_[i % fill_.size()];
    }
  }
  if (groups_ != nullptr && --groups_->unread[group_] == 0) groups_->unread.erase(group_);
}

void Transfer::finish() {
  std::size_t at = 0;
  for (const Chunk& c : chunks_) {
    if (c.to != nullptr) {
      if (c.packs)
        std::memcpy(c.to, pack_sixes(buffer_.data() + at).data(), 12);
      else if (merge_)
        merge_(c.to, buffer_.data() + at, c.bytes);
      else
        std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(at), c.bytes, c.to);
    }
    at += c.bytes;
  }
  if (groups_ != nullptr && --groups_->unfinished[group_] == 0) groups_->unfinished.erase(group_);
  if (cta_ != nullptr) {
    if (cta_->left)
      throw Violation("cluster.left", what + " completes on an mbarrier of a CTA that has left");
    mbarrier_complete(run_, mbarrier_at(run_, *cta_, barrier_, nullptr), bytes_, phase_);
  }
}

void open_groups(Run& run, CommitGroups& groups, bool generic) {
  if (groups.reads != 0) return;
  groups.reads = generic ? run.new_generic_component() : run.new_component();
  groups.writes = generic ? run.new_generic_component() : run.new_component();
}

Action commit_action(CommitGroups Lane::*groups) {
  return [=](Warp& w, Mask m) {
    for_lanes(m, [&](int l) {
      CommitGroups& g = w.lanes[static_cast<std::size_t>(l)].*groups;
      open_groups(*w.run, g, groups == &Lane::copies);
      g.uncommitted = 0;
      ++g.open;
    });
    return Next::step;
  };
}

Action wait_action(CommitGroups Lane::*groups, std::uint32_t most_pending, bool reads_only,
                   bool uncommitted_too) {
  return [=](Warp& w, Mask m) {
    CommitGroups* slow = nullptr;
    std::uint32_t until = 0;
    for_lanes(m, [&](int l) {
      CommitGroups& g = w.lanes[static_cast<std::size_t>(l)].*groups;
      // Groups up to `last` must be done.
      const std::uint32_t closed = uncommitted_too ? g.open : g.open - 1;
      const std::uint32_t last = closed > most_pending ? closed - most_pending : 0;
      const auto& left = reads_only ? g.unread : g.unfinished;
      if (!left.empty() && left.begin()->first <= last && slow == nullptr) {
        slow = &g;
        until = last;
      }
    });
    if (slow != nullptr) {
      w.current->wait = Wait{[slow, until, reads_only] {
                               const auto& left = reads_only ? slow->unread : slow->unfinished;
                               return left.empty() || left.begin()->first > until;
                             },
                             "its groups of asynchronous copies"};
      return Next::blocked;
    }
    for_lanes(m, [&](int l) {
      Lane& lane = w.lanes[static_cast<std::size_t>(l)];
      CommitGroups& g = lane.*groups;
      open_groups(*w.run, g, groups == &Lane::copies);
      const std::uint32_t closed = uncommitted_too ? g.open : g.open - 1;
      const std::uint32_t last = closed > most_pending ? closed - most_pending : 0;
      lane.knows.all.raise({g.reads, last});
      if (!reads_only) lane.knows.all.raise({g.writes, last});
      if (!uncommitted_too && g.uncommitted > 0 && most_pending == 0) {
        w.run->lane_now = l;
        w.run->report(
            "bulk.uncommitted",
            std::to_string(g.uncommitted) +
                " asynchronous operation(s) of this thread are in no group: the wait does "
                "not cover them",
            "commit_group between the operation and the wait");
      }
    });
    return Next::step;
  };
}

Merge merge_of(const Instruction& i) {
  Number n;
  bool typed = false;
  std::string op;
  for (const std::string& p : i.parts) {
    Number found;
    if (parse_number(p, found)) {
      n = found;
      typed = true;
    }
    for (const char* name : {"add", "min", "max", "inc", "dec", "and", "or", "xor"})
      if (p == name) op = p;
  }
  if (op.empty()) throw Violation("model.unknown", "the model does not know this reduction");
  if (!typed) n.kind = Number::Kind::bits;
  return [n, op](std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
    const auto width = static_cast<std::size_t>(n.bits / 8);
    for (std::size_t at = 0; at + width <= bytes; at += width) {
      Value a = 0, b = 0;
      std::memcpy(&a, to + at, width);
      std::memcpy(&b, from + at, width);
      Value r = 0;
      const auto wide = [&](Value v) {
        return n.kind == Number::Kind::signed_ ? static_cast<__int128>(extend(v, n.bits))
                                               : static_cast<__int128>(v);
      };
      const double x = n.floating() ? to_double(n, a) : 0, y = n.floating() ? to_double(n, b) : 0;
      if (op == "add")
        r = n.floating()
                ? (n.bits == 32 ? bits_of(as_float(a) + as_float(b)) : from_double(n, x + y))
                : a + b;
      else if (op == "min")
        r = n.floating() ? from_double(n, least_or_most(x, y, false)) : wide(a) < wide(b) ? a : b;
      else if (op == "max")
        r = n.floating() ? from_double(n, least_or_most(x, y, true)) : wide(a) > wide(b) ? a : b;
      else if (op == "inc")
        r = a >= b ? 0 : a + 1;
      else if (op == "dec")
        r = a == 0 || a > b ? b : a - 1;
      else if (op == "and")
        r = a & b;
      else if (op == "or")
        r = a | b;
      else
        r = a ^ b;
      std::memcpy(to + at, &r, width);
    }
  };
}

}  // namespace assay::model

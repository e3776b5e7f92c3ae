// SPDX-License-Identifier: Apache-2.0
// Vector clocks: what a thread, barrier or copy knows to have happened.
//
// A component is one strand of things that happen in an order of their own: a thread's ordinary
// accesses, the phases of an mbarrier, the bulk groups of a thread, the wgmma groups of a
// warpgroup. An epoch (component, time) happened before whoever holds a clock whose entry for the
// component is at least `time`. (FastTrack: Flanagan and Freund, PLDI 2009.)
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace assay::model {

using Component = std::uint32_t;
// Set in components that are not a thread's ordinary (generic proxy) accesses.
inline constexpr Component kAsynchronous = 0x80000000u;

// Whom a fence or a strong access reaches. .sys is .gpu: there is one GPU, and no host that looks.
enum class Scope : std::uint8_t { none, cta, cluster, gpu };
inline constexpr std::size_t kScopes = 3;  // that are some

struct Epoch {
  Component component = 0;
  std::uint32_t time = 0;  // 0: never

  bool operator==(const Epoch&) const = default;
};

// Entries lie in chunks of 256 components, shared until written: after a barrier of a CTA all of
// its threads hold the same chunks. A clock has those alone that it knows of, in order.
class Clock {
 public:
  std::uint32_t at(Component component) const {
    const Component number = number_of(component);
    const std::size_t i = place(number);
    return is_at(i, number) ? (*chunks_[i].entries)[component % kChunk] : 0;
  }
  bool covers(Epoch epoch) const { return at(epoch.component) >= epoch.time; }

  void raise(Epoch epoch) {
    if (covers(epoch)) return;
    const Component number = number_of(epoch.component);
    const std::size_t i = place(number);
    if (!is_at(i, number)) insert(i, {number, std::make_shared<Entries>()});
    own(chunks_[i])[epoch.component % kChunk] = epoch.time;
  }

  void join(const Clock& other) { join(other, 0); }
  // But not what `other` has of the components from `first` to before `end`.
  void join_outside(const Clock& other, Component first, Component end) {
    Clock rest = other;
    for (Component c = first; c < end; ++c)
      if (rest.at(c) != 0) own(rest.chunks_[rest.place(number_of(c))])[c % kChunk] = 0;
    join(rest);
  }
  // What `other` has of asynchronous strands alone.
  void join_asynchronous(const Clock& other) { join(other, other.place(kAsynchronous)); }

 private:
  static constexpr std::size_t kChunk = 256;
  using Entries = std::array<std::uint32_t, kChunk>;
  struct Chunk {
    Component number = 0;
    std::shared_ptr<Entries> entries;
  };

  // Of a chunk: those of asynchronous strands come after all of threads.
  static Component number_of(Component component) {
    return (component & kAsynchronous) | (component & ~kAsynchronous) / kChunk;
  }
  bool is_at(std::size_t i, Component number) const {
    return i < chunks_.size() && chunks_[i].number == number;
  }
  // Where a chunk is, or would be. Mostly there are no gaps: threads count from the first one, and
  // asynchronous strands up to the last one.
  std::size_t place(Component number) const {
    if (chunks_.empty()) return 0;
    const std::size_t guess = (number & kAsynchronous) == 0
                                  ? std::size_t{number} - chunks_.front().number
                                  : chunks_.size() - 1 - chunks_.back().number + number;
    if (is_at(guess, number)) return guess;
    return static_cast<std::size_t>(std::ranges::lower_bound(chunks_, number, {}, &Chunk::number) -
                                    chunks_.begin());
  }
  void insert(std::size_t i, Chunk chunk) {
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(i), std::move(chunk));
  }

  // With what `other` has from its chunk `first` on.
  void join(const Clock& other, std::size_t first);
  static void join(Chunk& mine, const Chunk& theirs);

  static Entries& own(Chunk& chunk) {
    if (chunk.entries.use_count() > 1) chunk.entries = std::make_shared<Entries>(*chunk.entries);
    return *chunk.entries;
  }

  std::vector<Chunk> chunks_;
};

// What a thread knows: of everything; and of ordinary accesses also what a proxy fence has made
// visible to asynchronous operations on shared and on global memory. Passed on whole by whatever
// orders threads.
struct Knowledge {
  Clock all, async_shared, async_global;
  Clock async_other;  // as async_shared, of what threads wrote to other CTAs' shared memory
  Clock own_fenced;   // what each thread has fenced of its own accesses to shared memory
  Clock narrow;       // what fences and flags would have told, had their scopes been wider
  Clock settled;      // of threads that will touch it no more, but whose writes it may not rely on

  void join(const Knowledge& other) {
    all.join(other.all);
    async_shared.join(other.async_shared);
    async_global.join(other.async_global);
    async_other.join(other.async_other);
    own_fenced.join(other.own_fenced);
    narrow.join(other.narrow);
    settled.join(other.settled);
  }

  // What a thread tells another CTA by an arrival of CTA scope: that its accesses are over, and
  // what asynchronous operations did that it knows of; but nothing to rely on of ordinary writes.
  void join_narrow(const Knowledge& other) {
    all.join_asynchronous(other.all);
    settled.join(other.all);
    settled.join(other.settled);
    async_shared.join(other.async_shared);
    async_global.join(other.async_global);
    async_other.join(other.async_other);
    own_fenced.join(other.own_fenced);
    narrow.join(other.all);
    narrow.join(other.narrow);
  }
};

}  // namespace assay::model

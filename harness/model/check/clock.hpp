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
// its threads hold the same chunks.
class Clock {
 public:
  std::uint32_t at(Component component) const {
    const auto [chunk, index] = place(component);
    return chunk < chunks_.size() && chunks_[chunk] ? (*chunks_[chunk])[index] : 0;
  }
  bool covers(Epoch epoch) const { return at(epoch.component) >= epoch.time; }

  void raise(Epoch epoch) {
    if (covers(epoch)) return;
    const auto [chunk, index] = place(epoch.component);
    own(chunk)[index] = epoch.time;
  }

  void join(const Clock& other) { join(other, 0, 1); }
  // What `other` has of asynchronous strands alone.
  void join_asynchronous(const Clock& other) { join(other, 1, 2); }

 private:
  void join(const Clock& other, std::size_t first, std::size_t step) {
    for (std::size_t i = first; i < other.chunks_.size(); i += step) {
      const auto& theirs = other.chunks_[i];
      if (!theirs) continue;
      if (chunks_.size() <= i) chunks_.resize(i + 1);
      if (chunks_[i] == theirs) continue;
      if (!chunks_[i]) {
        chunks_[i] = theirs;
        continue;
      }
      bool mine_less = false, theirs_less = false;
      for (std::size_t k = 0; k < kChunk; ++k) {
        mine_less |= (*chunks_[i])[k] < (*theirs)[k];
        theirs_less |= (*theirs)[k] < (*chunks_[i])[k];
      }
      if (!mine_less) continue;
      if (!theirs_less) {
        chunks_[i] = theirs;
        continue;
      }
      auto& entries = own(i);
      for (std::size_t k = 0; k < kChunk; ++k) entries[k] = std::max(entries[k], (*theirs)[k]);
    }
  }

  static constexpr std::size_t kChunk = 256;
  using Chunk = std::array<std::uint32_t, kChunk>;
  struct Place {
    std::size_t chunk, index;
  };
  // Threads in even chunks, asynchronous strands in odd ones.
  static Place place(Component component) {
    const std::size_t number = component & ~kAsynchronous;
    return {number / kChunk * 2 + (component >> 31), number % kChunk};
  }
  Chunk& own(std::size_t chunk) {
    if (chunks_.size() <= chunk) chunks_.resize(chunk + 1);
    auto& at = chunks_[chunk];
    if (!at) {
      at = std::make_shared<Chunk>();
    } else if (at.use_count() > 1) {
      at = std::make_shared<Chunk>(*at);
    }
    return *at;
  }

  std::vector<std::shared_ptr<Chunk>> chunks_;
};

// What a thread knows: of everything; and of ordinary accesses also what a proxy fence has made
// visible to asynchronous operations on shared and on global memory. Passed on whole by whatever
// orders threads.
struct Knowledge {
  Clock all, async_shared, async_global;
  Clock own_fenced;  // what each thread has fenced of its own accesses to shared memory
  Clock narrow;      // what fences and flags would have told, had their scopes been wider
  Clock settled;     // of threads that will touch it no more, but whose writes it may not rely on

  void join(const Knowledge& other) {
    all.join(other.all);
    async_shared.join(other.async_shared);
    async_global.join(other.async_global);
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
    own_fenced.join(other.own_fenced);
    narrow.join(other.all);
    narrow.join(other.narrow);
  }
};

}  // namespace assay::model

// SPDX-License-Identifier: Apache-2.0
// Not in the header: a program may hold several compilations of an inline function, some of them
// hardly optimized, and take any of them.
#include "harness/model/check/clock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace assay::model {

void Clock::join(const Clock& other, std::size_t first) {
  if (chunks_.empty() && first == 0) {
    chunks_ = other.chunks_;
    return;
  }
  std::size_t i = 0;
  for (; first < other.chunks_.size(); ++first, ++i) {
    const Chunk& theirs = other.chunks_[first];
    if (!is_at(i, theirs.number)) i = place(theirs.number);
    if (!is_at(i, theirs.number)) {
      insert(i, theirs);
    } else if (chunks_[i].entries != theirs.entries) {
      join(chunks_[i], theirs);
    }
  }
}

void Clock::join(Chunk& mine, const Chunk& theirs) {
  // The lanes of a warp mostly hold the same chunks and join them with the same ones: what came of
  // the last pairs is kept.
  struct Joined {
    std::shared_ptr<Entries> one, other, both;
  };
  static thread_local std::array<Joined, 128> last;
  const auto hash = [](const auto& p) { return std::hash<const void*>()(p.get()) / 64; };
  Joined& kept = last[(hash(mine.entries) * 3 + hash(theirs.entries)) % last.size()];
  if (kept.one == mine.entries && kept.other == theirs.entries) {
    mine.entries = kept.both;
    return;
  }
  const Entries &a = *mine.entries, &b = *theirs.entries;
  std::uint32_t less = 0, more = 0;  // their highest bits: times are below 2^31
  for (std::size_t k = 0; k < kChunk; ++k) {
    less |= a[k] - b[k];
    more |= b[k] - a[k];
  }
  const bool is_less = less >> 31 != 0, is_more = more >> 31 != 0;
  std::shared_ptr<Entries> both = is_less ? theirs.entries : mine.entries;
  if (is_less && is_more) {
    both = std::make_shared<Entries>();
    for (std::size_t k = 0; k < kChunk; ++k) (*both)[k] = std::max(a[k], b[k]);
  }
  // What is nobody else's may still be written where it is, and would be copied if it were kept.
  if (mine.entries.use_count() > 1 + (is_less ? 0 : 1)) kept = {mine.entries, theirs.entries, both};
  mine.entries = std::move(both);
}

}  // namespace assay::model

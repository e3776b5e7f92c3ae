// SPDX-License-Identifier: Apache-2.0
// Shadow memory of bytes: words have one cell, and say of each byte what a cell of its own would.
#include "harness/model/check/shadow.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace assay::model {
namespace {

struct Seen {
  std::size_t at;
  std::uint32_t written;
  bool initialized, barrier;
};

std::vector<Seen> seen(ByteShadow& shadow, std::size_t at, std::size_t bytes) {
  std::vector<Seen> all;
  shadow.access(at, bytes, [&](const Cell& cell, std::size_t byte) {
    all.push_back({byte, cell.write.epoch.time, cell.initialized, cell.barrier});
  });
  return all;
}

TEST(ByteShadow, WholeWordsAreOneCellUntilOneOfTheirBytesIsAccessedAlone) {
  ByteShadow shadow(16);
  EXPECT_EQ(seen(shadow, 0, 16).size(), 4u);
  EXPECT_EQ(seen(shadow, 5, 1).size(), 1u);
  EXPECT_EQ(seen(shadow, 0, 16).size(), 7u);
}

TEST(ByteShadow, EachByteKeepsWhatHappenedToIt) {
  constexpr std::size_t kBytes = 61;
  ByteShadow shadow(kBytes);
  std::vector<Seen> expected(kBytes);
  std::mt19937 random(1);
  for (std::uint32_t time = 1; time < 400; ++time) {
    const std::size_t at = random() % kBytes, bytes = 1 + random() % (kBytes - at);
    const bool barrier = time % 3 == 0;
    shadow.access(at, bytes, [&](Cell& cell, std::size_t) { cell.write.epoch = {1, time}; });
    shadow.mark_barrier(at, bytes, barrier);
    for (std::size_t k = at; k < at + bytes; ++k) {
      expected[k].written = time;
      expected[k].barrier = barrier;
    }
    if (time == 200) {
      shadow.initialize(at, bytes);
      for (std::size_t k = at; k < at + bytes; ++k) expected[k].initialized = true;
      shadow.forget_accesses();
      for (Seen& byte : expected) byte.written = 0, byte.barrier = false;
    }
  }
  for (std::size_t at = 0; at < kBytes; ++at) {
    const std::vector<Seen> found = seen(shadow, at, 1);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].at, at);
    EXPECT_EQ(found[0].written, expected[at].written) << at;
    EXPECT_EQ(found[0].initialized, expected[at].initialized) << at;
    EXPECT_EQ(found[0].barrier, expected[at].barrier) << at;
  }
}

TEST(ByteShadow, TheReadsOfAWordAreThoseOfItsBytesEachItsOwn) {
  ByteShadow shadow(4);
  shadow.access(0, 4, [&](Cell& cell, std::size_t) { shadow.reads(cell).push_back({}); });
  shadow.access(2, 1, [&](Cell& cell, std::size_t) { shadow.reads(cell).clear(); });
  std::vector<std::size_t> counts;
  shadow.access(0, 4,
                [&](Cell& cell, std::size_t) { counts.push_back(shadow.reads(cell).size()); });
  EXPECT_EQ(counts, (std::vector<std::size_t>{1, 1, 0, 1}));
}

}  // namespace
}  // namespace assay::model

// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/cycle.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace assay {
namespace {

TEST(Cycle, VisitsEveryPlaceOnceBeforeAnyTwice) {
  for (std::uint32_t count = 1; count <= 1u << 20; count *= 2) {
    std::vector<bool> seen(count);
    std::uint32_t place = count / 3;
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_LT(place, count);
      ASSERT_FALSE(seen[place]) << "count " << count << " step " << i;
      seen[place] = true;
      place = successor(place, count);
    }
    EXPECT_EQ(place, count / 3);
  }
}

TEST(Cycle, SaysWhereAWalkEnds) {
  std::uint32_t place = 5;
  for (int i = 0; i < 1000; ++i) place = successor(place, 64);
  EXPECT_EQ(place_after(5, 1000, 64), place);
  EXPECT_EQ(place_after(5, 0, 64), 5u);
  EXPECT_EQ(place_after(5, 64'000'000'000u, 64), 5u);
}

TEST(Cycle, HasNoConstantStrideForAPrefetcher) {
  constexpr std::uint32_t kCount = 1 << 16;
  int repeats = 0;
  std::uint32_t place = 0, stride = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const std::uint32_t next = successor(place, kCount);
    repeats += next - place == stride;
    stride = next - place;
    place = next;
  }
  EXPECT_LT(repeats, 100);
}

}  // namespace
}  // namespace assay

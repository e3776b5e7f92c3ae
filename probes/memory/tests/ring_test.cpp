// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/ring.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace assay {
namespace {

TEST(Ring, VisitsEveryPlaceOnce) {
  for (const int bits : {1, 2, 6, 8, 13, 16, 17}) {
    std::vector<bool> visited(std::size_t{1} << bits);
    for (std::uint32_t step = 0; step < visited.size(); ++step) {
      const std::uint32_t place = shuffle(step, bits);
      ASSERT_LT(place, visited.size());
      ASSERT_FALSE(visited[place]) << "bits " << bits << ", step " << step;
      visited[place] = true;
    }
  }
}

TEST(Ring, OfAnyLengthVisitsEveryPlaceOnce) {
  for (const std::uint32_t count : {1u, 2u, 3u, 48u, 100u, 1279u, 65537u}) {
    std::vector<bool> visited(count);
    for (std::uint32_t step = 0; step < count; ++step) {
      const std::uint32_t place = shuffle_within(step, count);
      ASSERT_LT(place, count);
      ASSERT_FALSE(visited[place]) << "of " << count << ", step " << step;
      visited[place] = true;
    }
  }
}

TEST(Ring, HasNoConstantStrideForAPrefetcher) {
  constexpr int kBits = 16;
  int repeats = 0;
  for (std::uint32_t step = 0; step < 1u << kBits; ++step) {
    const std::uint32_t here = shuffle(step, kBits), next = shuffle(step + 1, kBits);
    repeats += shuffle(step + 2, kBits) - next == next - here;
  }
  EXPECT_LT(repeats, 100);
}

TEST(Ring, BeginsAtPlaceNought) {
  for (const int bits : {1, 6, 8, 31}) EXPECT_EQ(shuffle(0, bits), 0u);
}

TEST(Ring, ClosesAfterTheLastStep) {
  EXPECT_EQ(shuffle(0, 13), shuffle(1 << 13, 13));
  EXPECT_EQ(shuffle(5, 13), shuffle(5 + (3 << 13), 13));
}

TEST(Ring, WalkGoesOnWhereTheLastLaunchEnded) {
  RingWalk walk(3, 8);
  EXPECT_EQ(walk.set_out(100).offset, 0u);
  EXPECT_EQ(walk.end(0), 100u);
  const Start second = walk.set_out(200);
  EXPECT_EQ(second.offset, 100u);
  EXPECT_EQ(walk.end(0), 300u % 256);
  EXPECT_EQ(walk.end(2), (second.offset + 2 * second.apart + 200) % 256);
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/concurrency.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Concurrency, OfNothingIsNone) {
  const Concurrency found = concurrency({});
  EXPECT_EQ(found.most, 0);
  EXPECT_EQ(found.mean, 0);
  EXPECT_EQ(found.whole_ns, 0);
}

TEST(Concurrency, CountsOverlap) {
  const std::vector<TimeSpan> spans = {{0, 100}, {50, 150}, {60, 70}, {200, 300}};
  const Concurrency found = concurrency(spans);
  EXPECT_EQ(found.most, 3);
  EXPECT_DOUBLE_EQ(found.busy_ns, 250);
  EXPECT_DOUBLE_EQ(found.whole_ns, 300);
  EXPECT_DOUBLE_EQ(found.mean, (100 + 100 + 10 + 100) / 250.0);
}

TEST(Concurrency, OfSpansThatMeetIsOne) {
  const std::vector<TimeSpan> spans = {{100, 200}, {0, 100}, {200, 300}};
  const Concurrency found = concurrency(spans);
  EXPECT_EQ(found.most, 1);
  EXPECT_DOUBLE_EQ(found.mean, 1);
}

TEST(Concurrency, CountsSpansShorterThanAStepOfTheTimer) {
  const std::vector<TimeSpan> spans = {{32, 32}, {32, 32}, {64, 64}};
  EXPECT_EQ(concurrency(spans).most, 2);
}

}  // namespace
}  // namespace assay

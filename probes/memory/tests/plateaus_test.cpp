// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/plateaus.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace assay {
namespace {

TEST(Plateaus, EndWhereTheCurveLeavesThem) {
  const std::vector<double> curve = {34,  34,  34,  34.2, 34,  80,  150, 262, 264,
                                     265, 266, 265, 330,  480, 640, 655, 660, 658};
  const auto found = plateaus(curve);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].first, 0u);
  EXPECT_EQ(found[0].last, 4u);
  EXPECT_DOUBLE_EQ(found[0].level, 34);
  EXPECT_EQ(found[1].first, 7u);
  EXPECT_EQ(found[1].last, 11u);
  EXPECT_DOUBLE_EQ(found[1].level, 265);
  EXPECT_EQ(found[2].first, 14u);
  EXPECT_EQ(found[2].last, 17u);
}

TEST(Plateaus, AFlatCurveIsOne) {
  const std::vector<double> curve(20, 23.0);
  const auto found = plateaus(curve);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].last, 19u);
}

TEST(Plateaus, ASteadySlopeHasNone) {
  std::vector<double> curve = {10};
  for (int i = 0; i < 20; ++i) curve.push_back(curve.back() * 1.1);
  EXPECT_TRUE(plateaus(curve).empty());
}

TEST(Plateaus, NeighboursOfOneLevelAreJoined) {
  // A dip of 6% in the last value of the first run must not make two capacities of one.
  const std::vector<double> curve = {100, 101, 103, 104, 98.5, 99, 100, 101, 250, 251, 252};
  const auto found = plateaus(curve);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].last, 7u);
}

TEST(Plateaus, OfNothingAreNone) {
  EXPECT_TRUE(plateaus({}).empty());
  EXPECT_TRUE(plateaus(std::vector<double>{1.0, 1.0}).empty());
}

}  // namespace
}  // namespace assay

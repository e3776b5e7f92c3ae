// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/tlb.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

// As an H100 with 80 GB has it: all of its memory is within reach, and lines a few cycles nearer or
// farther are no misses.
TEST(TlbCurve, WithoutAnEndInSightSaysNothingOfMisses) {
  const std::vector<double> cycles = {279.0, 276.6, 276.4, 278.0, 281.2, 282.5,
                                      283.7, 285.5, 286.1, 286.7, 286.9, 286.8};
  const TlbCurve curve = tlb_curve(cycles);
  ASSERT_EQ(curve.levels.size(), 1u);
  EXPECT_FALSE(curve.reached);
}

// As an H200 with 141 GB.
TEST(TlbCurve, BeyondItsReachMissesCost) {
  const std::vector<double> cycles = {285.4, 288.4, 291.1, 292.0, 292.2,
                                      292.1, 292.2, 309.3, 320.4, 332.4};
  const TlbCurve curve = tlb_curve(cycles);
  ASSERT_EQ(curve.levels.size(), 1u);
  ASSERT_TRUE(curve.reached);
  EXPECT_EQ(*curve.reached, 6u);
  EXPECT_NEAR(curve.worst, 332.4 - 292.0, 0.2);
}

TEST(TlbCurve, OfTwoLevelsTheLastWithAnEndCounts) {
  const std::vector<double> cycles = {200, 200, 200, 250, 300, 300, 300, 400, 500};
  const TlbCurve curve = tlb_curve(cycles);
  ASSERT_EQ(curve.levels.size(), 2u);
  EXPECT_EQ(curve.reached, 6u);
  EXPECT_EQ(curve.worst, 300);
}

}  // namespace
}  // namespace assay

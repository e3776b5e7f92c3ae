// SPDX-License-Identifier: Apache-2.0
#include "probes/tma/knee.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay {
namespace {

TEST(Knee, LiesOnTheLineBetweenTwoPoints) {
  const std::vector<double> places = {1, 2, 4, 8, 16}, values = {25, 50, 90, 100, 99};
  EXPECT_DOUBLE_EQ(knee(places, values), 6);
  EXPECT_DOUBLE_EQ(knee(places, values, 0.9), 4);
  EXPECT_DOUBLE_EQ(knee(places, values, 1.0), 8);
}

TEST(Knee, OfAFlatCurveIsItsFirstPlace) {
  const std::vector<double> places = {16, 32}, values = {7, 7};
  EXPECT_DOUBLE_EQ(knee(places, values), 16);
}

TEST(Knee, PassesOverPlacesWithoutAValue) {
  const std::vector<double> places = {1, 2, 4, 8}, values = {NAN, 10, NAN, 20};
  EXPECT_DOUBLE_EQ(knee(places, values, 0.75), 5);
  EXPECT_TRUE(std::isnan(knee(places, std::vector<double>(4, NAN))));
}

}  // namespace
}  // namespace assay

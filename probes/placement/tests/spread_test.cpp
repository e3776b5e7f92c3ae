// SPDX-License-Identifier: Apache-2.0
#include "probes/placement/spread.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

CtaPlace on(std::uint32_t sm, std::uint64_t begin_ns = 100, std::uint64_t end_ns = 200) {
  return {begin_ns, end_ns, sm, 0, 0, 1};
}

TEST(Spread, OneEachIsEven) {
  const std::vector<CtaPlace> places = {on(2), on(0), on(1)};
  const CtaSpread spread = spread_of(places);
  EXPECT_EQ(spread.first_wave, 3u);
  EXPECT_EQ(spread.sms_used, 3);
  EXPECT_EQ(spread.most_on_one_sm, 1);
  EXPECT_TRUE(is_even(spread, 3));
  EXPECT_EQ(first_doubled(places), 3u);
}

TEST(Spread, TwoOnOneSmAreNotEvenWhileAnotherHasNone) {
  const std::vector<CtaPlace> places = {on(0), on(0), on(1)};
  EXPECT_EQ(spread_of(places).most_on_one_sm, 2);
  EXPECT_FALSE(is_even(spread_of(places), 3));
  EXPECT_TRUE(is_even(spread_of(places), 2));  // one of the two has to take two
  EXPECT_EQ(first_doubled(places), 1u);
}

TEST(Spread, ThreeOnOneSmAndOneOnAnotherAreNotEven) {
  EXPECT_FALSE(is_even(spread_of(std::vector{on(0), on(0), on(0), on(1)}), 2));
  EXPECT_TRUE(is_even(spread_of(std::vector{on(0), on(0), on(1), on(1)}), 2));
  // Five on three SMs: two each at most, and one at least.
  EXPECT_TRUE(is_even(spread_of(std::vector{on(0), on(1), on(2), on(0), on(1)}), 3));
  EXPECT_FALSE(is_even(spread_of(std::vector{on(0), on(1), on(0), on(1)}), 3));
}

TEST(Spread, SmsThatBeginLate) {
  const std::vector<CtaPlace> places = {on(0), on(1), on(0), on(2), on(1), on(2), on(3)};
  EXPECT_EQ(first_doubled(places), 2u);
  EXPECT_EQ(sms_begun_after(places, 2), 2);
  EXPECT_EQ(sms_begun_after(places, 6), 0);
}

TEST(MedianRun, IsHowManyInARowAreOfOneGroup) {
  const std::vector<int> groups = {0, 0, 1, 1};
  EXPECT_EQ(median_run(std::vector{on(0), on(1), on(2), on(3), on(1), on(0)}, groups), 2);
  EXPECT_EQ(median_run(std::vector{on(0), on(2), on(1), on(3)}, groups), 1);
  EXPECT_EQ(median_run({}, groups), 0);
}

TEST(Spread, WhatBeginsAfterTheFirstHasEndedIsNoDoubling) {
  const std::vector<CtaPlace> places = {on(0, 100, 200), on(1, 110, 220), on(0, 205, 300)};
  const CtaSpread spread = spread_of(places);
  EXPECT_EQ(spread.first_wave, 2u);
  EXPECT_EQ(spread.most_on_one_sm, 1);
  EXPECT_TRUE(is_even(spread, 2));
}

TEST(Spread, OfNothingIsEven) {
  EXPECT_EQ(spread_of({}).sms_used, 0);
  EXPECT_TRUE(is_even(spread_of({}), 132));
}

TEST(Agreement, CountsCtasOnTheSameSm) {
  const std::vector<CtaPlace> a = {on(0), on(1), on(2), on(3)}, b = {on(0), on(1), on(3), on(2)};
  EXPECT_DOUBLE_EQ(agreement(a, b), 0.5);
  EXPECT_DOUBLE_EQ(agreement(a, a), 1);
  EXPECT_DOUBLE_EQ(agreement({}, {}), 0);
}

}  // namespace
}  // namespace assay

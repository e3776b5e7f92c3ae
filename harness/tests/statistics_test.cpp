// SPDX-License-Identifier: Apache-2.0
#include "harness/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace assay {
namespace {

// 1, 2, ..., n, shuffled: sorted place and value are the same.
std::vector<double> ranks(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  std::ranges::shuffle(values, std::mt19937_64(7));
  return values;
}

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median(std::vector{3.0}), 3);
  EXPECT_EQ(median(std::vector{9.0, 1.0}), 5);
  EXPECT_EQ(median(std::vector{9.0, 1.0, 2.0}), 2);
  EXPECT_EQ(median(std::vector{4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_EQ(median(std::vector{2.0, 2.0, 2.0, 9.0}), 2);
  EXPECT_EQ(median(ranks(101)), 51);
  EXPECT_EQ(median(ranks(100)), 50.5);
}

// Largest k with 2 P(binomial(n, 1/2) < k) <= 5%, worked out with whole numbers:
//   n = 6:   2 * 1 / 64 = 3.1%                           -> [1, 6]
//   n = 9:   2 * (1 + 9) / 512 = 3.9%                    -> [2, 8]
//   n = 11:  2 * (1 + 11) / 2048 = 1.2%, with 55: 6.5%   -> [2, 10]
//   n = 20:  2 * 21700 / 2^20 = 4.1%, with 38760: 11.5%  -> [6, 15]
//   n = 100: 3.5%, next 5.7%                             -> [40, 61]
// The same as table A.1 of Conover, Practical Nonparametric Statistics.
TEST(MedianInterval, IsTheBinomialOne) {
  const struct {
    int n;
    double low, high;
  } exact[] = {{6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {11, 2, 10}, {20, 6, 15}, {100, 40, 61}};
  for (const auto& [n, low, high] : exact) {
    const Interval found = median_interval(ranks(n));
    EXPECT_EQ(found.low, low) << n;
    EXPECT_EQ(found.high, high) << n;
  }
}

TEST(MedianInterval, AtOtherConfidences) {
  EXPECT_EQ(median_interval(ranks(20), 0.99).low, 4);  // 2 * 1351 / 2^20 = 0.26%, next 1.2%
  EXPECT_EQ(median_interval(ranks(20), 0.99).high, 17);
  EXPECT_EQ(median_interval(ranks(20), 0.5).low, 8);  // 2 * 137980 / 2^20 = 26%, next 50.3%
  EXPECT_EQ(median_interval(ranks(20), 0.5).high, 13);
}

TEST(MedianInterval, OfFewerThanSixIsTheRange) {
  for (int n = 1; n < 6; ++n) {
    EXPECT_EQ(median_interval(ranks(n)).low, 1);
    EXPECT_EQ(median_interval(ranks(n)).high, n);
  }
}

// 2^-n is below the least double from n = 1075 on.
TEST(MedianInterval, OfManyDoesNotUnderflow) {
  const Interval found = median_interval(ranks(10000));
  EXPECT_NEAR(found.low, 5000 - 0.5 * 1.96 * 100, 2);
  EXPECT_NEAR(found.high, 5001 + 0.5 * 1.96 * 100, 2);
}

// On skewed data (log-normal, as timings are) the true median lies inside at least 95% of the
// time. The counts are binomial: 4000 trials at 95% have a standard deviation of 0.34%.
TEST(MedianInterval, CoversTheTruthOnSkewedData) {
  std::mt19937_64 random(12345);
  std::lognormal_distribution<double> skewed(0, 1);  // true median: 1
  for (const int n : {6, 11, 25}) {
    constexpr int kTrials = 4000;
    int covered = 0;
    std::vector<double> values(static_cast<std::size_t>(n));
    for (int trial = 0; trial < kTrials; ++trial) {
      for (double& value : values) value = skewed(random);
      const auto [low, high] = median_interval(values);
      if (low <= 1 && 1 <= high) ++covered;
    }
    EXPECT_GE(covered, kTrials * (0.95 - 3 * 0.0034)) << n;
    EXPECT_LT(covered, kTrials) << n << ": an interval that never misses says nothing";
  }
}

TEST(EstimateOfSamples, HasAnIntervalFromSixOn) {
  const Estimate of_six = estimate(ranks(6));
  EXPECT_EQ(of_six.value, 3.5);
  EXPECT_EQ(of_six.low, 1);
  EXPECT_EQ(of_six.high, 6);
  const Estimate of_five = estimate(ranks(5));
  EXPECT_EQ(of_five.value, 3);
  EXPECT_TRUE(std::isnan(of_five.low) && std::isnan(of_five.high));
}

TEST(EstimateOfSamples, TakesItsEndsAlongWhenScaled) {
  const Estimate cycles(4, 2, 5);
  const auto ends = [](const Estimate& e) { return std::vector{e.value, e.low, e.high}; };
  EXPECT_EQ(ends(cycles / 2), (std::vector<double>{2, 1, 2.5}));
  EXPECT_EQ(ends(3 * cycles), (std::vector<double>{12, 6, 15}));
  EXPECT_EQ(ends(cycles * -1), (std::vector<double>{-4, -5, -2}));
  EXPECT_EQ(ends(20 / cycles), (std::vector<double>{5, 4, 10}));
  const Estimate maybe_nothing = 20 / Estimate(4, 0, 5);
  EXPECT_EQ(maybe_nothing.value, 5);
  EXPECT_TRUE(std::isnan(maybe_nothing.low) && std::isnan(maybe_nothing.high));
  EXPECT_EQ(cycles - 1, 3) << "what is computed otherwise is a number";
}

TEST(RelativeHalfWidth, ComparesWithTheMedian) {
  EXPECT_EQ(relative_half_width(std::vector(9, 5.0)), 0);
  EXPECT_EQ(relative_half_width(std::vector(9, 0.0)), 0);
  EXPECT_DOUBLE_EQ(relative_half_width(ranks(9)), 3.0 / 5);
  EXPECT_EQ(relative_half_width(std::vector<double>{-3, -2, -1, 0, 1, 2, 3}),
            std::numeric_limits<double>::infinity());
  std::vector<double> negative = ranks(9);
  for (double& value : negative) value = -value;
  EXPECT_DOUBLE_EQ(relative_half_width(negative), 3.0 / 5);
}

TEST(Ratios, DividePairByPair) {
  EXPECT_EQ(ratios(std::vector{6.0, 1.0}, std::vector{3.0, 4.0}), (std::vector{2.0, 0.25}));
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/periodicity.hpp"

#include <gtest/gtest.h>

#include <random>

namespace assay {
namespace {

TEST(Periodicity, FindsTheIntervalOfRegularEventsAndNotAHalfOfIt) {
  std::vector<double> times;
  for (int i = 0; i < 300; ++i) times.push_back(100 + 3.9 * i);
  const Period found = strongest_period(times, 0.5, 10);
  EXPECT_NEAR(found.length, 3.9, 0.01);
  EXPECT_GT(found.strength, 0.95);
}

TEST(Periodicity, SurvivesGapsAndJitter) {
  std::mt19937 random(1);
  std::normal_distribution<double> jitter(0, 0.15);
  std::vector<double> times;
  for (int i = 0; i < 600; ++i)
    if (random() % 3 == 0) times.push_back(3.9 * i + jitter(random));
  const Period found = strongest_period(times, 0.5, 10);
  EXPECT_NEAR(found.length, 3.9, 0.02);
  EXPECT_GT(found.strength, 0.8);
  EXPECT_LT(found.chance, 1e-6);
}

TEST(Periodicity, OfRandomEventsIsWeakAndExplainedByChance) {
  int alarms = 0;  // one in a hundred is what the bound allows
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    std::exponential_distribution<double> gap(0.25);
    std::vector<double> times = {0};
    for (int i = 0; i < 400; ++i) times.push_back(times.back() + gap(random));
    const Period found = strongest_period(times, 0.5, 10);
    EXPECT_LT(found.strength, 0.4);
    EXPECT_GT(found.chance, 1e-4);
    alarms += found.chance < 0.01;
  }
  EXPECT_LE(alarms, 1);
}

TEST(Periodicity, OfAFewEventsIsNotAsked) {
  EXPECT_EQ(strongest_period(std::vector<double>{1, 2, 3}, 0.1, 2).strength, 0);
}

}  // namespace
}  // namespace assay

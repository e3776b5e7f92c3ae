// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/two_clusters.hpp"

#include <gtest/gtest.h>

#include <random>

namespace assay {
namespace {

std::vector<double> normal(std::mt19937& random, int count, double mean, double deviation) {
  std::normal_distribution<double> distribution(mean, deviation);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = distribution(random);
  return values;
}

TEST(TwoClusters, PartsTwoGroupsOfUnequalSize) {
  std::mt19937 random(1);
  std::vector<double> values = normal(random, 300, 260, 15);
  const std::vector<double> far = normal(random, 700, 410, 20);
  values.insert(values.end(), far.begin(), far.end());
  std::ranges::shuffle(values, random);
  const auto found = two_clusters(values);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->low, 260, 4);
  EXPECT_NEAR(found->high, 410, 4);
  EXPECT_GT(found->boundary, 300);
  EXPECT_LT(found->boundary, 360);
}

TEST(TwoClusters, LeavesOneGroupWhole) {
  std::mt19937 random(2);
  EXPECT_FALSE(two_clusters(normal(random, 1000, 260, 20)));
  std::vector<double> uniform(1000);
  for (double& value : uniform) value = std::uniform_real_distribution<double>(200, 300)(random);
  EXPECT_FALSE(two_clusters(uniform));
  EXPECT_FALSE(two_clusters(std::vector<double>(100, 260.0)));
}

TEST(TwoClusters, TakesAFewOutliersForNoGroup) {
  std::mt19937 random(3);
  std::vector<double> values = normal(random, 1000, 260, 10);
  values.insert(values.end(), 20, 5000.0);
  EXPECT_FALSE(two_clusters(values));
}

TEST(TwoClusters, NeedsTwoReadings) {
  EXPECT_FALSE(two_clusters({}));
  EXPECT_FALSE(two_clusters(std::vector<double>{1.0}));
  EXPECT_TRUE(two_clusters(std::vector<double>{1.0, 2.0}));
}

}  // namespace
}  // namespace assay

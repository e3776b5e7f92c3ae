// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/partition_map.hpp"

#include <gtest/gtest.h>

#include <random>

namespace assay {
namespace {

constexpr std::size_t kSms = 20, kLines = 64;

std::vector<double> readings_of(const std::vector<int>& of_sm, const std::vector<int>& of_line,
                                double far) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 8);
  std::vector<double> readings;
  for (const int sm : of_sm)
    for (const int line : of_line) readings.push_back((sm == line ? 600 : far) + noise(random));
  return readings;
}

TEST(PartitionMap, IsRecovered) {
  std::vector<int> of_sm(kSms), of_line(kLines);
  for (std::size_t i = 0; i < kSms; ++i) of_sm[i] = i % 5 > 2;
  for (std::size_t i = 0; i < kLines; ++i) of_line[i] = i * 7 % 3 == 1;
  const auto map = partition_map(readings_of(of_sm, of_line, 790), kLines);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->of_sm, of_sm);
  EXPECT_EQ(map->of_line, of_line);
  EXPECT_DOUBLE_EQ(map->agreement, 1);
}

TEST(PartitionMap, SurvivesWrongReadings) {
  std::vector<int> of_sm(kSms), of_line(kLines);
  for (std::size_t i = 0; i < kSms; ++i) of_sm[i] = i >= kSms / 2;
  for (std::size_t i = 0; i < kLines; ++i) of_line[i] = i % 2 == 1;
  auto readings = readings_of(of_sm, of_line, 790);
  readings[3 * kLines + 6] = 790;  // a near line that once took as long as a far one
  const auto map = partition_map(readings, kLines);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->of_line, of_line);
  EXPECT_NEAR(map->agreement, 1 - 1.0 / (kSms * kLines), 1e-12);
}

TEST(PartitionMap, OfAnL2InOnePieceIsNone) {
  EXPECT_FALSE(
      partition_map(readings_of(std::vector<int>(kSms), std::vector<int>(kLines), 600), kLines));
  EXPECT_FALSE(partition_map({}, 0));
}

}  // namespace
}  // namespace assay

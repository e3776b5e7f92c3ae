// SPDX-License-Identifier: Apache-2.0
#include "probes/placement/tile_work.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace assay {
namespace {

double mean(const std::vector<std::uint32_t>& turns) {
  return std::accumulate(turns.begin(), turns.end(), 0.0) / static_cast<double>(turns.size());
}

TEST(TileCosts, KeepTheMean) {
  for (const TileCosts costs : {TileCosts::equal, TileCosts::uneven, TileCosts::ramp})
    EXPECT_NEAR(mean(tile_costs(costs, 800, 7000, 5)), 7000, 10);
}

TEST(TileCosts, AreWhatTheirNamesSay) {
  const auto equal = tile_costs(TileCosts::equal, 16, 70, 1);
  EXPECT_EQ(*std::ranges::min_element(equal), *std::ranges::max_element(equal));
  const auto uneven = tile_costs(TileCosts::uneven, 16, 70, 1);
  EXPECT_EQ(std::ranges::count(uneven, 280u), 2);
  EXPECT_EQ(std::ranges::count(uneven, 40u), 14);
  EXPECT_EQ(uneven, tile_costs(TileCosts::uneven, 16, 70, 1));
  const auto ramp = tile_costs(TileCosts::ramp, 16, 70, 1);
  EXPECT_TRUE(std::ranges::is_sorted(ramp, std::greater{}));
  EXPECT_GT(ramp.back(), 0u);
}

TEST(TileResult, CountsTurns) {
  EXPECT_EQ(tile_result(7, 0), 7u);
  EXPECT_EQ(tile_result(7, 1), 7u * 1664525u + 1013904223u);
  EXPECT_NE(tile_result(7, 100), tile_result(7, 101));
  EXPECT_NE(tile_result(7, 100), tile_result(8, 100));
}

TEST(LeastTurns, IsTheAverageOrTheLongestTile) {
  EXPECT_DOUBLE_EQ(least_turns(std::vector<std::uint32_t>{1, 1, 1, 1}, 2), 2);
  EXPECT_DOUBLE_EQ(least_turns(std::vector<std::uint32_t>{1, 1, 9}, 2), 9);
  EXPECT_DOUBLE_EQ(least_turns({}, 2), 0);
}

}  // namespace
}  // namespace assay

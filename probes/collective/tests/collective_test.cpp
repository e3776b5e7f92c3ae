// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "probes/collective/world.hpp"

namespace assay {
namespace {

TEST(Collective, CountsBusBytesAsNcclTestsDoes) {
  const std::size_t gib = std::size_t{1} << 30;
  EXPECT_DOUBLE_EQ(bus_bytes({Operation::all_reduce, ncclBfloat16, gib, 8}), gib * 1.75);
  EXPECT_DOUBLE_EQ(bus_bytes({Operation::all_reduce, ncclBfloat16, gib, 2}), gib * 1.0);
  EXPECT_DOUBLE_EQ(bus_bytes({Operation::all_gather, ncclFloat8e4m3, gib, 8}), gib * 0.875);
}

TEST(Collective, SizeIsOfTheWholeBuffer) {
  EXPECT_EQ((Collective{Operation::all_gather, ncclBfloat16, 512, 8}.send_count()), 32u);
  EXPECT_EQ((Collective{Operation::all_gather, ncclFloat8e4m3, 512, 8}.send_count()), 64u);
  EXPECT_EQ((Collective{Operation::all_reduce, ncclBfloat16, 512, 8}.send_count()), 256u);
}

TEST(Collective, SumsOfThePatternAreExactInTheirType) {
  for (std::size_t i = 0; i < 100000; ++i) {
    EXPECT_LE(pattern_result(Operation::all_reduce, ncclBfloat16, i, 0, kMaxRanks), 256u);
    EXPECT_LE(pattern_result(Operation::all_reduce, ncclFloat8e4m3, i, 0, kMaxRanks), 16u);
  }
}

TEST(Collective, GatheredElementIsItsSenders) {
  EXPECT_EQ(pattern_result(Operation::all_gather, ncclBfloat16, 3 * 64 + 5, 64, 4),
            pattern(ncclBfloat16, 5, 3));
}

TEST(Collective, PatternTellsRanksAndNeighboursApart) {
  for (const ncclDataType_t type : {ncclBfloat16, ncclFloat8e4m3}) {
    int same_rank = 0, same_neighbour = 0;
    for (std::size_t i = 0; i < 10000; ++i) {
      same_rank += pattern(type, i, 0) == pattern(type, i, 1);
      same_neighbour += pattern(type, i, 0) == pattern(type, i + 1, 0);
    }
    EXPECT_EQ(same_rank, 0);
    EXPECT_LT(same_neighbour, 5000);
  }
}

}  // namespace
}  // namespace assay

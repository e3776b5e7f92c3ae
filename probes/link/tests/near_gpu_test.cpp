// SPDX-License-Identifier: Apache-2.0
#include "probes/link/near_gpu.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(CpuList, ReadsWhatLinuxWrites) {
  EXPECT_EQ(parse_cpu_list("0-3,8,10-11"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_cpu_list("5"), std::vector<int>{5});
  EXPECT_TRUE(parse_cpu_list("").empty());
}

TEST(CpuList, TakesNothingFromAnythingElse) {
  for (const char* text : {"x", "1,", "1,,2", "3-1", "1-", "-1", "0-99999999", "1 2", "1-2-3"})
    EXPECT_TRUE(parse_cpu_list(text).empty()) << text;
}

TEST(NearDevice, LeavesTheThreadAloneForAnUnknownDevice) {
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof(before), &before);
  {
    const NearDevice near("ffff:ff:1f.7");
    EXPECT_FALSE(near.moved());
    sched_getaffinity(0, sizeof(after), &after);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  }
  EXPECT_EQ(pcie_limit_gb_per_s("ffff:ff:1f.7"), 0);
}

}  // namespace
}  // namespace assay

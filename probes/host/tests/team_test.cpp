// SPDX-License-Identifier: Apache-2.0
#include "probes/host/team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <stdexcept>

namespace assay {
namespace {

TEST(Team, RunsEachMemberOnceAndTimesThem) {
  const int cpus = cpu_count();  // a member may run on its own CPU alone
  std::atomic<int> sum = 0, calls = 0;
  const double ns = on_all_cpus([&](int i, int n) {
    EXPECT_EQ(n, cpus);
    sum += i;
    ++calls;
  });
  EXPECT_EQ(calls, cpus);
  EXPECT_EQ(sum, cpus * (cpus - 1) / 2);
  EXPECT_GT(ns, 0);
}

TEST(Team, LetsExceptionsThrough) {
  EXPECT_THROW(on_all_cpus([](int i, int) {
                 if (i == 0) throw std::runtime_error("no");
               }),
               std::runtime_error);
}

TEST(Share, CoversEverythingOnce) {
  for (const std::size_t count : {0u, 1u, 999u, 4096u, 100'001u})
    for (const int n : {1, 2, 3, 7, 64}) {
      std::size_t at = 0;
      for (int i = 0; i < n; ++i) {
        const Share mine = share(count, i, n, 512);
        EXPECT_EQ(mine.first, at);
        EXPECT_LE(mine.first, mine.last);
        at = mine.last;
        EXPECT_TRUE(at % 512 == 0 || i + 1 == n);
      }
      EXPECT_EQ(at, count);
    }
}

TEST(MapMemory, IsAlignedZeroedAndWritable) {
  const MappedMemory memory = map_memory(5'000'000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % (2 << 20), 0u);
  EXPECT_EQ(memory[4'999'999], std::byte{0});
  memory[4'999'999] = std::byte{7};
  EXPECT_EQ(memory[4'999'999], std::byte{7});
}

TEST(Footprint, IsAPowerOfTwoThatFits) {
  EXPECT_TRUE(std::has_single_bit(dram_footprint_bytes()));
  EXPECT_LE(dram_footprint_bytes(), std::size_t{1} << 30);
  EXPECT_LE(dram_footprint_bytes(), available_memory_bytes());
}

}  // namespace
}  // namespace assay

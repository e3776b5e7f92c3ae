// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/levels.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr std::uint64_t kMiB = 1 << 20, kL2 = 60 * kMiB;

struct Curve {
  std::vector<std::uint64_t> bytes;
  std::vector<double> cycles;
};

// Cycles by a rule, at each power of two and halfway between.
template <class F>
Curve curve(F&& rule) {
  Curve c;
  for (std::uint64_t low = 1 << 10; low <= 8 * kL2; low *= 2)
    for (const std::uint64_t bytes : {low, low + low / 2}) {
      c.bytes.push_back(bytes);
      c.cycles.push_back(rule(bytes));
    }
  return c;
}

std::vector<std::string> names(const Curve& c) {
  std::vector<std::string> all;
  for (const auto& [name, plateau] : named_levels(c.bytes, c.cycles, kL2)) all.push_back(name);
  return all;
}

TEST(Levels, AreNamedByWhereTheyEnd) {
  const Curve c = curve([](std::uint64_t bytes) {
    return bytes <= 192 << 10 ? 34. : bytes <= 28 * kMiB ? 280. : bytes <= 56 * kMiB ? 400. : 660.;
  });
  EXPECT_EQ(names(c), (std::vector<std::string>{"l1", "l2_near", "dram"}));
}

TEST(Levels, TellTwoPlateausOfL2Apart) {
  const Curve c = curve([](std::uint64_t bytes) {
    return bytes <= 192 << 10 ? 34. : bytes <= 4 * kMiB ? 280. : bytes <= 56 * kMiB ? 400. : 660.;
  });
  EXPECT_EQ(names(c), (std::vector<std::string>{"l1", "l2_near", "l2", "dram"}));
}

TEST(Levels, DoNotCallAWobbleALevel) {
  // Half as much again in two places within L2, and a step on the way to memory.
  const Curve c = curve([](std::uint64_t bytes) {
    if (bytes > 2 * kL2) return 660.;
    if (bytes > kL2) return 510.;
    return bytes == 2 * kMiB || bytes == 8 * kMiB ? 420. : 282.;
  });
  EXPECT_EQ(names(c), (std::vector<std::string>{"l2_near", "dram"}));
  EXPECT_DOUBLE_EQ(named_levels(c.bytes, c.cycles, kL2).back().second.level, 660);
}

TEST(Levels, CallNothingL1ThatIsAsSlowAsL2) {
  const Curve c = curve([](std::uint64_t bytes) {
    return bytes <= 6 << 10 ? 306. : bytes <= 28 * kMiB ? 282. : bytes <= 2 * kL2 ? 500. : 660.;
  });
  EXPECT_EQ(names(c), (std::vector<std::string>{"l2_near", "dram"}));
}

TEST(Levels, OfASlopeAreNone) {
  double cycles = 30;
  const Curve c = curve([&](std::uint64_t) { return cycles *= 1.1; });
  EXPECT_TRUE(names(c).empty());
}

}  // namespace
}  // namespace assay

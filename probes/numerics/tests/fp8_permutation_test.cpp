// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/fp8_permutation.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay::numerics {
namespace {

// Of 16 columns lane 1 wants 4..7 in A's register 0: the first n8 block's columns 4 and 5 are lane
// 2's accumulators 0 and 1, columns 6 and 7 lane 3's. Lane 2 wants 8..11: the second n8 block's
// first four, of lanes 0 and 1, accumulators 4 and 5. Register 3 is row g + 8 of columns 16..31.
TEST(Fp8Permutation, Sources) {
  EXPECT_EQ(source_of(0, 0, 0), (Source{0, 0}));
  EXPECT_EQ(source_of(0, 0, 3), (Source{1, 1}));
  EXPECT_EQ(source_of(1, 0, 0), (Source{2, 0}));
  EXPECT_EQ(source_of(1, 0, 3), (Source{3, 1}));
  EXPECT_EQ(source_of(2, 0, 0), (Source{0, 4}));
  EXPECT_EQ(source_of(2, 1, 2), (Source{1, 6}));
  EXPECT_EQ(source_of(3, 3, 3), (Source{3, 15}));
}

TEST(Fp8Permutation, PackedRegistersAreAllThere) {
  std::set<int> seen;
  for (int reg = 0; reg < 4; ++reg)
    for (int element = 0; element < 4; ++element) seen.insert(packed_register(reg, element));
  EXPECT_EQ(seen.size(), 16u);
  EXPECT_EQ(*seen.rbegin(), 15);
}

TEST(Fp8Permutation, OtherOperandOrder) {
  const auto order = other_operand_order();
  const int first[] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
  for (std::size_t k = 0; k < 16; ++k) {
    EXPECT_EQ(order[k], first[k]);
    EXPECT_EQ(order[k + 16], first[k] + 16);
  }
}

// What convert() does to a quad's words, on the CPU: lane t's halves are numbered 4 t + 0..3.
TEST(Fp8Permutation, TwoShufflesSuffice) {
  struct Word {
    int low, high;
    bool operator==(const Word&) const = default;
  };
  Word x[4], y[4];
  for (int t = 0; t < 4; ++t) {
    const Word low{4 * t, 4 * t + 2}, high{4 * t + 1, 4 * t + 3};  // of both words
    x[t] = t % 2 ? high : low;
    y[t] = t % 2 ? low : high;
  }
  for (int t = 0; t < 4; ++t) {
    const int even = 2 * (t & 1), odd = even + 1, half = t / 2;
    const Word a = x[t < 2 ? even : odd], b = y[t < 2 ? odd : even];
    const Word first = t < 2 ? Word{a.low, b.low} : Word{b.low, a.low};
    const Word second = t < 2 ? Word{a.high, b.high} : Word{b.high, a.high};
    EXPECT_EQ(first, (Word{4 * even + half, 4 * odd + half}));
    EXPECT_EQ(second, (Word{4 * even + 2 + half, 4 * odd + 2 + half}));
  }
}

}  // namespace
}  // namespace assay::numerics

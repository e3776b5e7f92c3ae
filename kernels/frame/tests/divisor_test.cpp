// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/divisor.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <random>

namespace assay::kernels {
namespace {

TEST(Divisor, DividesAsTheLanguageDoes) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> any(1, INT_MAX), shift(0, 30);
  for (int trial = 0; trial < 20000; ++trial) {
    const int d = trial < 300 ? trial + 1 : any(random) >> shift(random);
    if (d == 0) continue;
    const Divisor divisor(d);
    const int whole = INT_MAX / d * d;  // where the quotient changes last
    for (const int n : {0, 1, d - 1, d, any(random), whole - 1, whole, INT_MAX}) {
      ASSERT_EQ(divisor.quotient(n), n / d) << n << " / " << d;
      ASSERT_EQ(divisor.rest(n, n / d), n % d) << n << " % " << d;
    }
  }
}

}  // namespace
}  // namespace assay::kernels

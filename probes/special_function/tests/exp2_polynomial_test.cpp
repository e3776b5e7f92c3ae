// SPDX-License-Identifier: Apache-2.0
#include "probes/special_function/exp2_polynomial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace assay::exp2_polynomial {
namespace {

template <int kDegree>
double relative_error(float x) {
  return std::abs(evaluate<kDegree>(x) / std::exp2(static_cast<double>(x)) - 1);
}

// Over [-1, 0], densely, near both ends, and at random arguments down to -126 and up to 127.
template <int kDegree>
double largest_error() {
  double largest = 0;
  const auto test = [&](float x) { largest = std::max(largest, relative_error<kDegree>(x)); };
  for (int i = 0; i <= 1 << 20; ++i) test(-0x1p-20f * static_cast<float>(i));
  for (int e = -40; e < 0; ++e) {
    test(-std::ldexp(1.0f, e));
    test(std::ldexp(1.0f, e) - 1);
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> spread(-126, 127);
  for (int i = 0; i < 1 << 20; ++i) test(spread(random));
  return largest;
}

// The bounds are those that the header states.
TEST(Exp2Polynomial, ErrorsAreAsStated) {
  EXPECT_LE(largest_error<3>(), 8.57e-5);
  EXPECT_GE(largest_error<3>(), 8.56e-5);
  EXPECT_LE(largest_error<4>(), 2.96e-6);
  EXPECT_GE(largest_error<4>(), 2.90e-6);
  EXPECT_LE(largest_error<5>(), 1.42e-7);
  EXPECT_GE(largest_error<5>(), 8.23e-8);
}

template <int kDegree>
void expect_exact_powers() {
  for (int n = -126; n <= 127; ++n)
    EXPECT_EQ(evaluate<kDegree>(static_cast<float>(n)), std::ldexp(1.0f, n)) << n;
}
TEST(Exp2Polynomial, PowersOfTwoAreExact) {
  expect_exact_powers<3>();
  expect_exact_powers<4>();
  expect_exact_powers<5>();
}

TEST(Exp2Polynomial, FarBelowIsTheSmallestNormal) {
  EXPECT_EQ(evaluate<3>(-127), 0x1p-126f);
  EXPECT_EQ(evaluate<5>(-1e30f), 0x1p-126f);
  EXPECT_EQ(evaluate<5>(-INFINITY), 0x1p-126f);
}

}  // namespace
}  // namespace assay::exp2_polynomial

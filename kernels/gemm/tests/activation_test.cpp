// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/activation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::kernels {
namespace {

// As the device does it.
float phi(float x) { return 1 / (1 + std::exp2(gelu_exponent(x))); }

// bound.hpp allows an activation 2^-20 |x|, of which ex2.approx and rcp.approx take a part.
TEST(Activation, GeluIsWithinItsBound) {
  for (int i = -1'000'000; i <= 1'000'000; ++i) {
    const float x = static_cast<float>(i) * 1e-5f;
    const double expected = 0.5 * x * std::erfc(-x * 0.70710678118654752440);
    ASSERT_LE(std::fabs(x * phi(x) - expected), 0x1.7p-22 * std::fabs(x)) << x;
  }
}

TEST(Activation, GeluIsItsArgumentOrNothingFarOut) {
  for (const float x : {10.0f, 1e4f, 1e18f, 3e38f}) {
    EXPECT_EQ(phi(x), 1.0f) << x;
    EXPECT_EQ(phi(-x), 0.0f) << x;
  }
}

// What tanh.approx is given may be wrong by a little of the 2^-12 |x| that is allowed for all.
TEST(Activation, GeluByTanhReadsTheRightArgument) {
  for (int i = -1'000'000; i <= 1'000'000; ++i) {
    const float x = static_cast<float>(i) * 1e-5f;
    const auto of = [&](double argument) { return 0.5 * x * (1 + std::tanh(argument)); };
    const double expected =
        of(0.79788456080286535588 * (x + 0.044715 * static_cast<double>(x) * x * x));
    ASSERT_LE(std::fabs(of(gelu_tanh_argument(x)) - expected), 0x1p-20 * std::fabs(x)) << x;
  }
  for (const float x : {1e13f, 3e38f}) {
    EXPECT_EQ(std::tanh(gelu_tanh_argument(x)), 1.0f) << x;
    EXPECT_EQ(std::tanh(gelu_tanh_argument(-x)), -1.0f) << x;
  }
}

}  // namespace
}  // namespace assay::kernels

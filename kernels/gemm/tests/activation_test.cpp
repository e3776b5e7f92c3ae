// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/activation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::kernels {
namespace {

// bound.hpp allows an activation 2^-20 |x|.
TEST(Activation, GeluIsWithinItsBound) {
  for (int i = -1'000'000; i <= 1'000'000; ++i) {
    const float x = static_cast<float>(i) * 1e-5f;
    // As the device does it, whose fused multiply-add also ends the sum at 0 and 1.
    const float phi = std::clamp(std::fma(gelu_polynomial(x), x, 0.5f), 0.0f, 1.0f);
    const double expected = 0.5 * x * std::erfc(-x * 0.70710678118654752440);
    ASSERT_LE(std::fabs(x * phi - expected), 0x1p-20 * std::fabs(x)) << x;
  }
}

TEST(Activation, GeluIsItsArgumentOrNothingFarOut) {
  for (const float x : {10.0f, 1e4f, 1e18f, 3e38f}) {
    EXPECT_EQ(std::clamp(std::fma(gelu_polynomial(x), x, 0.5f), 0.0f, 1.0f), 1.0f) << x;
    EXPECT_EQ(std::clamp(std::fma(gelu_polynomial(-x), -x, 0.5f), 0.0f, 1.0f), 0.0f) << x;
  }
}

}  // namespace
}  // namespace assay::kernels

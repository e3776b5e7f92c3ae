// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/error_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "harness/model/matrix/arithmetic.hpp"

namespace assay::kernels {
namespace {

using model::matrix::Type;

// The bound of a block holds for what the tensor core makes of it (as it was measured), and is not
// so wide that it would say nothing: random sums come within a few percent of their magnitude.
TEST(BlockScaledBound, HoldsForTheTensorCoreAndIsNotIdle) {
  const auto arithmetic = model::matrix::arithmetic_of({.machine = model::matrix::Machine::hopper,
                                                        .unit = model::matrix::Unit::wgmma,
                                                        .a = Type::e4m3,
                                                        .b = Type::e4m3,
                                                        .c = Type::f32,
                                                        .d = Type::f32,
                                                        .m = 64,
                                                        .n = 8,
                                                        .k = 32});
  std::mt19937_64 random(1);
  constexpr std::size_t kM = 64, kN = 8, kK = 32, kSteps = 4;
  double worst = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<model::matrix::Word> sums(kM * kN, 0);
    std::vector<BlockSum> exact(kM * kN);
    for (std::size_t step = 0; step < kSteps; ++step) {
      std::vector<model::matrix::Word> a(kM * kK), b(kN * kK), next(kM * kN);
      const auto draw = [&] {  // finite: 0x7f and 0xff are NaN
        return static_cast<model::matrix::Word>(random() % 2 * 128 + random() % 0x7f);
      };
      for (auto& x : a) x = draw();
      for (auto& x : b) x = draw();
      multiply(arithmetic, {.a = a, .b = b, .c = sums}, next);
      const auto value = [](model::matrix::Word bits) {
        const int exponent = static_cast<int>(bits >> 3 & 15),
                  fraction = static_cast<int>(bits & 7);
        const double magnitude =
            exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
        return bits & 0x80 ? -magnitude : magnitude;
      };
      for (std::size_t i = 0; i < kM; ++i)
        for (std::size_t j = 0; j < kN; ++j) {
          MmaStep products;
          for (std::size_t x = 0; x < kK; ++x)
            products.add(value(a[i * kK + x]) * value(b[j * kK + x]));
          exact[i * kN + j].add(products);
        }
      sums = next;
    }
    for (std::size_t i = 0; i < kM * kN; ++i) {
      const double found = __builtin_bit_cast(float, sums[i]);
      const double error = std::fabs(found - exact[i].sum);
      ASSERT_LE(error, exact[i].error);
      worst = std::fmax(worst, error / exact[i].error);
    }
  }
  EXPECT_GT(worst, 0.02);
}

TEST(BlockScaledBound, OfAnExactSumIsOneRounding) {
  BlockScaledSum sum;
  sum.add({.sum = 1, .error = 0}, 2);
  EXPECT_EQ(sum.value, 2);
  EXPECT_NEAR(sum.bound(), 2 * 0x1p-8, 1e-6);
}

}  // namespace
}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The derived bound against the arithmetic that was found on a chip: sums of random operands, added
// as Hopper's tensor core adds them.
#include "kernels/gemm/bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "harness/numerics/mma_model.hpp"

namespace assay::kernels {
namespace {

using numerics::Bits;

struct Sums {
  double worst = 0;          // error over bound
  double worst_missing = 0;  // the same, had one step of the sum been left out
};

// `outputs` sums of k products of normal numbers of `type`, `group` of them at once.
Sums sums_of(const std::string& type, int group, int kept, int result, int k, int outputs) {
  const numerics::FloatFormat format = numerics::float_format(type);
  numerics::MmaModel mma = numerics::plain_model(format, numerics::float_format("f32"), group);
  mma.fraction_bits = kept;
  mma.result = {result};
  mma.least_exponent = -1000;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  Sums found;
  const auto step = static_cast<std::size_t>(group);
  for (int output = 0; output < outputs; ++output) {
    std::vector<Bits> a(static_cast<std::size_t>(k)), b(a.size());
    for (Bits& x : a) x = numerics::encode(format, normal(random));
    for (Bits& x : b) x = numerics::encode(format, normal(random));
    Bits sum = 0;
    for (std::size_t at = 0; at < a.size(); at += step)
      sum = numerics::multiply_add(mma, std::span(a).subspan(at, step),
                                   std::span(b).subspan(at, step), sum);
    GemmSum exact;
    double missing = 0;
    for (std::size_t at = 0; at < a.size(); at += 32) {
      double products = 0, magnitudes = 0;
      for (std::size_t x = at; x < at + 32; ++x) {
        const double product = numerics::value(format, a[x]) * numerics::value(format, b[x]);
        products += product;
        magnitudes += std::fabs(product);
      }
      exact.add(products, magnitudes);
      missing = products;
    }
    const double bound = gemm_sum_error(kept < 20, k, exact.greatest());
    const double error = std::fabs(numerics::value(numerics::float_format("f32"), sum) - exact.sum);
    found.worst = std::max(found.worst, error / bound);
    found.worst_missing = std::max(found.worst_missing, std::fabs(missing) / bound);
  }
  return found;
}

TEST(GemmBound, HoldsForHoppersSumsAndSeesAMissingStep) {
  for (const int k : {32, 256, 4096}) {
    SCOPED_TRACE(k);
    for (const char* type : {"e4m3", "e5m2"}) {
      const Sums fp8 = sums_of(type, 32, 13, 13, k, 200);
      EXPECT_LE(fp8.worst, 1) << type;
      EXPECT_GT(fp8.worst_missing, 2) << type;
    }
    for (const char* type : {"bf16", "f16"}) {
      const Sums narrow = sums_of(type, 16, 25, 23, k, 100);
      EXPECT_LE(narrow.worst, 1) << type;
      EXPECT_GT(narrow.worst_missing, 100) << type;
    }
  }
}

TEST(GemmBound, ActivationsAreWhatTheirNamesSay) {
  GemmSum sum;
  sum.add(2, 2);
  const auto value = [&](double factor, int activation) {
    return gemm_expected(sum, false, 32, {factor, 0, 0, activation}, {0, 0}).value;
  };
  EXPECT_DOUBLE_EQ(value(-0.5, 0), -1);
  EXPECT_NEAR(value(-0.5, 1), -0.15865525393145707, 1e-15);  // -Phi(-1)
  EXPECT_NEAR(value(0.5, 1), 0.84134474606854293, 1e-15);
  EXPECT_NEAR(value(-0.5, 2), -0.26894142136999512, 1e-15);
  EXPECT_NEAR(value(-0.5, 3), -0.15880800939172324, 1e-15);
  EXPECT_NEAR(value(0.5, 3), 0.84119199060827676, 1e-15);
}

TEST(GemmBound, ARoundedResultIsWithinAndOneUlpMoreIsNot) {
  GemmSum sum;
  sum.add(1 + 0x1p-8, 1 + 0x1p-8);  // between two numbers of bf16
  const GemmExpected e = gemm_expected(sum, false, 16, {1, 0, 0, 0}, {0x1p-8, 0});
  EXPECT_LE(std::fabs(1 - e.value), e.bound);
  EXPECT_LE(std::fabs(1 + 0x1p-7 - e.value), e.bound);
  EXPECT_GT(std::fabs(1 + 0x1p-6 - e.value), e.bound);
}

}  // namespace
}  // namespace assay::kernels

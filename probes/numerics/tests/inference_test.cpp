// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/inference.hpp"

#include <gtest/gtest.h>

namespace assay::numerics {
namespace {

// The experiments must find any model from its results alone.
struct Planted {
  const char *operand, *accumulator;
  std::vector<int> stage;
  int fraction_bits;
  Rounding addend;
  Result result;
  bool adds_c_last = false, normalizes_products = false, normalizes_subnormals = false,
       keeps_subnormal_inputs = true, keeps_negative_zero = false;
};

std::vector<int> stages(int k, int size) {
  std::vector<int> all;
  for (int at = 0; at < k; ++at) all.push_back(at / size);
  return all;
}

std::vector<Planted> planted() {
  const auto zero = Rounding::toward_zero, nearest = Rounding::nearest_even;
  std::vector<int> interleaved;  // as two f16 instructions stand in for one of fp8
  for (int at = 0; at < 32; ++at) interleaved.push_back(at % 4 / 2);
  return {{"f16", "f32", stages(16, 16), 25, zero, {23}},
          {"f16", "f32", stages(16, 8), 24, zero, {23}},
          {"f16", "f32", stages(16, 4), 23, zero, {23}, false, true},
          {"bf16", "f32", stages(16, 16), 25, zero, {23, zero, false}, false, false, true},
          {"tf32", "f32", stages(8, 8), 24, Rounding::down, {23, Rounding::down}},
          {"tf32", "f32", stages(8, 4), 26, nearest, {23, nearest}, false, false, false, false},
          {"f16", "f16", stages(16, 16), 25, zero, {10, nearest}, false, false, false, true, true},
          {"e4m3", "f32", stages(32, 32), 13, zero, {13}},
          {"e4m3", "f16", stages(32, 32), 13, zero, {10, nearest}},
          {"e5m2", "f32", stages(32, 16), 13, zero, {13}},
          {"e5m2", "f32", stages(32, 32), 25, zero, {23}},
          {"e4m3", "f32", interleaved, 25, zero, {23}, true}};
}

TEST(Inference, FindsWhatWasPlanted) {
  for (const Planted& p : planted()) {
    const FloatFormat operand = float_format(p.operand), accumulator = float_format(p.accumulator);
    const int k = static_cast<int>(p.stage.size());
    MmaModel truth = plain_model(operand, accumulator, k);
    truth.stage = p.stage;
    truth.fraction_bits = p.fraction_bits;
    truth.addend = p.addend;
    truth.result = p.result;
    truth.adds_c_last = p.adds_c_last;
    truth.normalizes_products = p.normalizes_products;
    truth.normalizes_subnormals = p.normalizes_subnormals;
    truth.keeps_subnormal_inputs = p.keeps_subnormal_inputs;
    truth.keeps_negative_zero = p.keeps_negative_zero;
    const Evaluator chip = [&](const std::vector<Dot>& dots) {
      std::vector<Bits> found;
      for (const Dot& dot : dots) found.push_back(multiply_add(truth, dot));
      return found;
    };
    SCOPED_TRACE(describe(truth) + " of " + p.operand);
    const Findings f = experiment(operand, accumulator, k, chip);
    EXPECT_TRUE(f.products_exact);
    EXPECT_TRUE(f.ordered);
    EXPECT_EQ(f.model.stage, truth.stage);
    EXPECT_EQ(f.model.fraction_bits, truth.fraction_bits);
    EXPECT_EQ(f.model.addend, truth.addend);
    EXPECT_EQ(f.model.adds_c_last, truth.adds_c_last);
    EXPECT_EQ(f.model.keeps_subnormal_inputs, truth.keeps_subnormal_inputs);
    EXPECT_EQ(f.model.keeps_negative_zero, truth.keeps_negative_zero);
    EXPECT_EQ(f.model.nan, truth.nan);
    std::vector<Dot> training, fresh;
    for (const Data data : kAllData) {
      const auto some = random_dots(operand, accumulator, k, data, 150, 1);
      training.insert(training.end(), some.begin(), some.end());
      const auto more = random_dots(operand, accumulator, k, data, 300, 1000);
      fresh.insert(fresh.end(), more.begin(), more.end());
    }
    const MmaModel model = fitted(f.model, training, chip(training));
    EXPECT_EQ(agreement(model, fresh, chip(fresh)), 1.0);
    EXPECT_EQ(describe(model), describe(truth));
  }
}

}  // namespace
}  // namespace assay::numerics

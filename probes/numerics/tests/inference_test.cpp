// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/inference.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::numerics {
namespace {

FloatFormat f32() { return float_format("f32"); }

TEST(FloatFormat, KnownBits) {
  EXPECT_EQ(encode(f32(), 1.0), 0x3f800000u);
  EXPECT_EQ(encode(f32(), -0x1p-149), 0x80000001u);
  EXPECT_EQ(encode(f32(), 0x1p-127), 0x00400000u);
  EXPECT_EQ(encode(float_format("f16"), 65504), 0x7bffu);
  EXPECT_EQ(encode(float_format("f16"), 65520), 0x7c00u);  // halfway to 2^16
  EXPECT_EQ(encode(float_format("f16"), 0x1p-24), 1u);
  EXPECT_EQ(encode(float_format("bf16"), 1.0), 0x3f80u);
  EXPECT_EQ(encode(float_format("tf32"), 1 + 0x1p-10), 0x3f802000u);
  EXPECT_EQ(encode(float_format("e4m3"), 448), 0x7eu);
  EXPECT_EQ(encode(float_format("e4m3"), 0x1p-9), 1u);
  EXPECT_EQ(encode(float_format("e5m2"), HUGE_VAL), 0x7cu);
  EXPECT_EQ(float_format("e4m3").nan(), 0x7fu);
  EXPECT_EQ(f32().greatest(), 0x7f7fffffu);
  for (const char* type : {"f16", "bf16", "e4m3", "e5m2"}) {
    const FloatFormat format = float_format(type);
    for (Bits bits = 0; bits <= format.greatest(); ++bits)
      ASSERT_EQ(encode(format, value(format, bits)), bits) << type;
  }
}

TEST(FloatFormat, Rounds) {
  const auto rounded = [](Rounding rounding, bool negative) {
    // 1 + 3 * 2^-24: one and a half units above 1.
    return value(f32(), encode(f32(), {23, rounding}, negative, (1u << 24) + 3, -24));
  };
  EXPECT_EQ(rounded(Rounding::toward_zero, false), 1 + 0x1p-23);
  EXPECT_EQ(rounded(Rounding::nearest_even, false), 1 + 0x1p-22);
  EXPECT_EQ(rounded(Rounding::down, false), 1 + 0x1p-23);
  EXPECT_EQ(rounded(Rounding::down, true), -(1 + 0x1p-22));
  // 13 bits kept of 1 + 2^-13 + 2^-14, and of a number just below 2: rounding up carries.
  EXPECT_EQ(value(f32(), encode(f32(), {13}, false, (1u << 14) + 3, -14)), 1 + 0x1p-13);
  EXPECT_EQ(value(f32(), encode(f32(), {13, Rounding::nearest_even}, false, (1u << 20) - 1, -19)),
            2);
  EXPECT_EQ(encode(f32(), {23}, true, 1, -150), 0x80000000u);
  EXPECT_EQ(encode(f32(), {23, Rounding::toward_zero, true}, false, 1, 128), 0x7f800000u);
  EXPECT_EQ(encode(f32(), {23, Rounding::toward_zero, false}, false, 1, 128), 0x7f7fffffu);
}

Dot dot_of(const MmaModel& m, std::vector<double> a, std::vector<double> b, double c) {
  Dot dot;
  for (const double x : a) dot.a.push_back(encode(m.operand, x));
  for (const double x : b) dot.b.push_back(encode(m.operand, x));
  dot.c = encode(m.accumulator, c);
  return dot;
}

// 256 - 256 + 2^-5 with 13 fraction bits beside an exponent of 8: 2^-5 is the last bit kept.
TEST(MmaModel, CutsAddendsBelowTheGreatest) {
  MmaModel m = plain_model(float_format("e4m3"), f32(), 4);
  m.fraction_bits = 13;
  const auto result = [&](double small) {
    return value(f32(), multiply_add(m, dot_of(m, {16, -16, small, 0}, {16, 16, 1, 0}, 0)));
  };
  EXPECT_EQ(result(0x1p-5), 0x1p-5);
  EXPECT_EQ(result(0x1p-6), 0);
  EXPECT_EQ(result(1.5 * 0x1p-5), 0x1p-5);
  EXPECT_EQ(result(-1.5 * 0x1p-5), -0x1p-5);
  m.addend = Rounding::nearest_even;
  EXPECT_EQ(result(1.5 * 0x1p-5), 0x1p-4);
  m.addend = Rounding::down;
  EXPECT_EQ(result(-0x1p-6), -0x1p-5);
  m.stage = {0, 0, 1, 1};  // the small one comes when the great ones are gone
  EXPECT_EQ(result(0x1p-6), 0x1p-6);
}

TEST(MmaModel, AlignsBeforeNormalization) {
  MmaModel m = plain_model(float_format("f16"), f32(), 4);
  m.fraction_bits = 10;
  const Dot dot = dot_of(m, {1.5, -1.5, 0x1p-10, 0}, {1.5, 1.5, 1, 0}, 0);  // +-2.25
  EXPECT_EQ(value(f32(), multiply_add(m, dot)), 0x1p-10);
  m.normalizes_products = true;
  EXPECT_EQ(value(f32(), multiply_add(m, dot)), 0);
}

TEST(MmaModel, KeepsThirteenBitsOfTheResult) {
  MmaModel m = plain_model(float_format("e4m3"), f32(), 4);
  m.fraction_bits = 13;
  m.result.fraction_bits = 13;
  const Dot dot = dot_of(m, {1, 1, 1, 1.5 * 0x1p-6}, {1, 1, 1, 0x1p-6}, 1);  // 4 + 1.5 * 2^-12
  EXPECT_EQ(value(f32(), multiply_add(m, dot)), 4);
  m.result.fraction_bits = 23;
  EXPECT_EQ(value(f32(), multiply_add(m, dot)), 4 + 1.5 * 0x1p-12);
}

TEST(MmaModel, SpecialValues) {
  const MmaModel m = plain_model(float_format("f16"), f32(), 2);
  const double inf = HUGE_VAL;
  EXPECT_EQ(multiply_add(m, dot_of(m, {inf, 1}, {2, 1}, 0)), 0x7f800000u);
  EXPECT_EQ(multiply_add(m, dot_of(m, {-inf, 1}, {2, 1}, 0)), 0xff800000u);
  EXPECT_EQ(multiply_add(m, dot_of(m, {inf, inf}, {1, -1}, 0)), 0x7fffffffu);
  EXPECT_EQ(multiply_add(m, dot_of(m, {inf, 1}, {0, 1}, 0)), 0x7fffffffu);
  EXPECT_EQ(multiply_add(m, dot_of(m, {1, 1}, {1, -1}, std::nan(""))), 0x7fffffffu);
  EXPECT_EQ(multiply_add(m, dot_of(m, {1, 1}, {1, -1}, -0.0)), 0u);
}

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

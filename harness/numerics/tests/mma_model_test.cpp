// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/mma_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::numerics {
namespace {

FloatFormat f32() { return float_format("f32"); }

Dot dot_of(const MmaModel& m, std::vector<double> a, std::vector<double> b, double c) {
  Dot dot;
  for (const double x : a) dot.a.push_back(encode(m.a, x));
  for (const double x : b) dot.b.push_back(encode(m.b, x));
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

}  // namespace
}  // namespace assay::numerics

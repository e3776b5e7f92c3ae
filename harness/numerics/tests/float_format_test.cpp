// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/float_format.hpp"

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
  EXPECT_EQ(float_format("e2m1").greatest(), 7u);
  EXPECT_EQ(value(float_format("e2m1"), 7), 6);
  EXPECT_EQ(value(float_format("e2m3"), 0x1f), 7.5);
  EXPECT_EQ(value(float_format("e3m2"), 0x3f), -28);
  EXPECT_EQ(value(float_format("e3m2"), 1), 0x1p-4);
  for (const char* type : {"f16", "bf16", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1"}) {
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

}  // namespace
}  // namespace assay::numerics

// SPDX-License-Identifier: Apache-2.0
#include "harness/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/error.hpp"

namespace assay {
namespace {

double round_trip(const std::string& type, double value) {
  return unpack(type, pack(type, element_bits(type) == 64 ? 64 : 32, value));
}

TEST(Element, ExactValuesComeBack) {
  for (const char* type :
       {"f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "e2m1", "s32", "s8"})
    for (const double value : {0.0, 1.0, 2.0, 6.0, -1.0, -4.0})
      EXPECT_EQ(round_trip(type, value), value) << type;
  for (const char* type : {"f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "e2m1"})
    for (const double value : {0.5, 1.5, -0.5}) EXPECT_EQ(round_trip(type, value), value) << type;
  for (const char* type : {"e5m2", "e3m2", "e2m3", "e2m1_b8"})
    for (const double value : {0.0, 1.0, 1.5, 4.0, -0.5, -2.0})
      EXPECT_EQ(round_trip(type, value), value) << type;
  for (const char* type : {"s4", "u4"}) EXPECT_EQ(round_trip(type, 7), 7) << type;
  EXPECT_EQ(round_trip("s4", -8), -8);
  EXPECT_EQ(round_trip("u4", 15), 15);
  EXPECT_EQ(round_trip("u8", 255), 255);
  EXPECT_EQ(round_trip("b1", 1), 1);
  EXPECT_EQ(round_trip("u32", 4294967295.0), 4294967295.0);
  EXPECT_EQ(round_trip("s32", -2147483648.0), -2147483648.0);
  EXPECT_EQ(round_trip("s8", -128), -128);
  EXPECT_EQ(round_trip("u8", 255), 255);
  EXPECT_EQ(round_trip("b1", 1), 1);
}

TEST(Element, KnownBits) {
  EXPECT_EQ(pack("f32", 32, 1.0), 0x3f800000u);
  EXPECT_EQ(pack("f64", 64, 1.0), 0x3ff0000000000000u);
  EXPECT_EQ(pack("f16", 32, 1.0), 0x3c003c00u);
  EXPECT_EQ(pack("bf16", 32, 1.0), 0x3f803f80u);
  EXPECT_EQ(pack("e4m3", 32, 1.0), 0x38383838u);
  EXPECT_EQ(pack("e5m2", 32, 1.0), 0x3c3c3c3cu);
  EXPECT_EQ(pack("b1", 32, 1.0), 0xffffffffu);
  EXPECT_EQ(pack("e2m1", 32, 1.0), 0x22222222u);
  EXPECT_EQ(pack("e2m1", 32, -6.0), 0xffffffffu);
  EXPECT_EQ(pack("ue8m0", 32, 1.0), 0x7f7f7f7fu);
  EXPECT_EQ(pack("e5m2", 32, 1.0), 0x3c3c3c3cu);
  EXPECT_EQ(pack("e3m2", 32, 1.0), 0x0c0c0c0cu);     // 0 011 00
  EXPECT_EQ(pack("e2m3", 32, -1.0), 0x28282828u);    // 1 01 000
  EXPECT_EQ(pack("e2m1_b8", 32, 1.0), 0x08080808u);  // 00 0 01 0 00
  EXPECT_EQ(pack("s8", 32, -1.0), 0xffffffffu);
  EXPECT_EQ(pack("u8", 32, 255.0), 0xffffffffu);
  EXPECT_EQ(pack("s4", 32, -8.0), 0x88888888u);
  EXPECT_EQ(pack("u4", 32, 15.0), 0xffffffffu);
  EXPECT_EQ(pack("b1", 32, 1.0), 0xffffffffu);
}

TEST(Element, TheFirstIsLowest) {
  double next = 0;
  EXPECT_EQ(pack("s8", 32, [&] { return ++next; }), 0x04030201u);
  EXPECT_EQ(unpack("s8", 0x04030201u), 1);
  EXPECT_EQ(unpack("e2m1", 0x72u), 1.0);  // and 6.0 above it
}

TEST(Element, RoundsToNearestEven) {
  // tf32 keeps 10 bits of the fraction, bf16 7.
  EXPECT_EQ(round_trip("tf32", 1 + 0x1p-11), 1.0);
  EXPECT_EQ(round_trip("tf32", 1 + 3 * 0x1p-11), 1 + 0x1p-9);
  EXPECT_EQ(round_trip("tf32", 1 + 0x1p-11 + 0x1p-20), 1 + 0x1p-10);
  EXPECT_EQ(round_trip("tf32", -(1 + 3 * 0x1p-11)), -(1 + 0x1p-9));
  EXPECT_EQ(round_trip("bf16", 1 + 0x1p-8), 1.0);
  EXPECT_EQ(round_trip("bf16", 1 + 3 * 0x1p-8), 1 + 0x1p-6);
  EXPECT_EQ(round_trip("f16", 1 + 0x1p-11), 1.0);
  EXPECT_EQ(round_trip("e4m3", 1.0625), 1.0);
  EXPECT_EQ(round_trip("e4m3", 1.1875), 1.25);
}

TEST(Element, SmallFormatsSaturate) {
  EXPECT_EQ(round_trip("e2m1", 100), 6.0);
  EXPECT_EQ(round_trip("e2m1", 0.25), 0.0);  // halfway between 0 and 0.5
  EXPECT_EQ(round_trip("e2m1", 2.5), 2.0);
  EXPECT_EQ(round_trip("e4m3", 1e6), 448.0);
}

TEST(Element, IntegersWrapAround) {
  EXPECT_EQ(round_trip("u8", -1), 255);
  EXPECT_EQ(round_trip("s4", 9), -7);
  for (const char* type : {"s32", "u32", "s8", "u8", "s4", "u4", "b1"})
    EXPECT_TRUE(is_integer(type)) << type;
  for (const char* type : {"f64", "f32", "bf16", "e4m3", "e2m1_b8", "ue8m0"})
    EXPECT_FALSE(is_integer(type)) << type;
}

TEST(Element, Ue8m0IsAPowerOfTwo) {
  for (const double value : {0x1p-127, 0.25, 1.0, 2.0, 0x1p127})
    EXPECT_EQ(round_trip("ue8m0", value), value);
}

TEST(Element, Ue8m0RoundsToThePowerOfTwoBelowOrAbove) {
  struct Row {
    double value;
    int rz, rp;
  };
  for (const Row& row :
       {Row{1, 127, 127}, Row{1 + 0x1p-40, 127, 128}, Row{2 - 0x1p-40, 127, 128},
        Row{1.5, 127, 128}, Row{2, 128, 128}, Row{0.75, 126, 127},
        // Subnormal numbers of binary32, and of binary64.
        Row{0x1p-126, 1, 1}, Row{0x1.8p-127, 0, 1}, Row{0x1p-127, 0, 0}, Row{0x1p-128, 0, 0},
        Row{0x1p-149, 0, 0}, Row{0x1p-1074, 0, 0}, Row{0, 0, 0}, Row{0x1p127, 254, 254},
        Row{0x1.8p127, 254, 254}, Row{1e300, 254, 254},
        Row{std::numeric_limits<double>::infinity(), 254, 254}}) {
    for (const double value : {row.value, -row.value}) {
      EXPECT_EQ(ue8m0_bits(value, Ue8m0Rounding::rz), row.rz) << value;
      EXPECT_EQ(ue8m0_bits(value, Ue8m0Rounding::rp), row.rp) << value;
      EXPECT_EQ(pack("ue8m0", 32, value) & 0xff, static_cast<std::uint64_t>(row.rp)) << value;
    }
  }
}

TEST(Element, Ue8m0HasOneNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {nan, -nan}) {
    EXPECT_EQ(ue8m0_bits(value, Ue8m0Rounding::rz), 0xff);
    EXPECT_EQ(ue8m0_bits(value, Ue8m0Rounding::rp), 0xff);
  }
  EXPECT_TRUE(std::isnan(unpack("ue8m0", 0xff)));
  for (std::uint64_t bits = 0; bits < 0xff; ++bits)
    EXPECT_EQ(unpack("ue8m0", bits), std::exp2(static_cast<double>(bits) - 127));
}

TEST(Element, UnknownTypeIsAnError) { EXPECT_THROW(pack("f12", 32, 1.0), Error); }

}  // namespace
}  // namespace assay

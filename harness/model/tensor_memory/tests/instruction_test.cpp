// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tensor_memory/instruction.hpp"

#include <gtest/gtest.h>

#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

using enum ptx::tcgen05::Kind;
using ptx::tcgen05::Accumulator;
using ptx::tcgen05::BlockScales;
using ptx::tcgen05::Element;
using ptx::tcgen05::Instruction;
using ptx::tcgen05::Kind;
using ptx::tcgen05::Scale;

// 9.7.16.4.2, Table 42: what the encoder writes is read back.
TEST(ModelMmaInstruction, ReadsWhatTheEncoderWrites) {
  struct Pair {
    Kind kind;
    Element a, b;
  };
  for (const Pair& p :
       {Pair{f16, Element::f16, Element::bf16}, Pair{tf32, Element::tf32, Element::tf32},
        Pair{f8f6f4, Element::e5m2, Element::e2m3}, Pair{f8f6f4, Element::e2m1, Element::e3m2},
        Pair{i8, Element::u8, Element::s8}}) {
    for (int option = 0; option < 6; ++option) {
      for (const int shift : {0, 8, 16, 32}) {
        const Instruction in{.kind = p.kind,
                             .a = p.a,
                             .b = p.b,
                             .m = 64 << option % 3,
                             .n = 8 * (option + 1),
                             .a_mn_major = option == 0,
                             .b_mn_major = option == 1,
                             .negate_a = option == 2,
                             .negate_b = option == 3,
                             .sparse = option == 4,
                             .sparsity_selector = option == 4 ? 3 : 0,
                             .d = p.kind == i8 ? Accumulator::s32 : Accumulator::f32,
                             .saturate = option == 5 && p.kind == i8,
                             .largest_shift = shift};
        const MmaInstruction out =
            decode_instruction(p.kind, ptx::tcgen05::instruction_descriptor(in));
        EXPECT_EQ(out.a, in.a);
        EXPECT_EQ(out.b, in.b);
        EXPECT_EQ(out.d, in.d);
        EXPECT_EQ(out.m, in.m);
        EXPECT_EQ(out.n, in.n);
        EXPECT_EQ(out.a_mn_major, in.a_mn_major);
        EXPECT_EQ(out.b_mn_major, in.b_mn_major);
        EXPECT_EQ(out.negate_a, in.negate_a);
        EXPECT_EQ(out.negate_b, in.negate_b);
        EXPECT_EQ(out.sparse, in.sparse);
        EXPECT_EQ(out.sparsity_selector, in.sparsity_selector);
        EXPECT_EQ(out.saturate, in.saturate);
        EXPECT_EQ(out.largest_shift, in.largest_shift);
      }
    }
  }
}

// Tables 43 and 44.
TEST(ModelMmaInstruction, ReadsBlockScales) {
  Instruction in{
      .kind = mxf8f6f4, .a = Element::e4m3, .b = Element::e2m1, .m = 128, .n = 64, .sparse = true};
  MmaInstruction out =
      decode_instruction(mxf8f6f4, ptx::tcgen05::instruction_descriptor(in, {Scale::ue8m0, 3, 1}));
  EXPECT_EQ(out.a, Element::e4m3);
  EXPECT_EQ(out.b, Element::e2m1);
  EXPECT_EQ(out.m, 128);
  EXPECT_EQ(out.k, 64);
  EXPECT_EQ(out.scale, Scale::ue8m0);
  EXPECT_EQ(out.a_byte, 3);
  EXPECT_EQ(out.b_byte, 1);
  in = {.kind = mxf4nvf4, .a = Element::e2m1, .b = Element::e2m1, .m = 256, .n = 256};
  const auto fp4 = [&](const BlockScales& scales) {
    return decode_instruction(mxf4nvf4, ptx::tcgen05::instruction_descriptor(in, scales));
  };
  out = fp4({.type = Scale::ue4m3, .k96 = true});
  EXPECT_EQ(out.k, 96);
  EXPECT_EQ(out.m, 256);
  EXPECT_EQ(out.scale, Scale::ue4m3);
  EXPECT_EQ(fp4({Scale::ue8m0, 2, 0}).a_byte, 2);
  EXPECT_THROW(fp4({Scale::ue8m0, 1, 0}), Violation) << "0 or 2";
}

TEST(ModelMmaInstruction, RefusesWhatTheTablesLack) {
  const std::uint32_t good = ptx::tcgen05::instruction_descriptor(
      {.kind = f16, .a = Element::bf16, .b = Element::bf16, .m = 128, .n = 256});
  EXPECT_NO_THROW(decode_instruction(f16, good));
  for (const int bit : {0, 3, 6, 23, 29})
    EXPECT_THROW(decode_instruction(f16, good | 1u << bit), Violation) << bit;
  EXPECT_THROW(decode_instruction(f16, good & ~(3u << 4)), Violation) << "bf16 to f16";
  EXPECT_THROW(decode_instruction(tf32, good), Violation) << "another kind's types";
  EXPECT_THROW(decode_instruction(mxf4, good), Violation);
}

MmaInstruction shaped(Kind kind, int m, int n, bool sparse = false) {
  MmaInstruction i{};
  i.kind = kind, i.m = m, i.n = n, i.sparse = sparse;
  return i;
}
bool exists(const MmaInstruction& i, int ctas, bool ws) {
  try {
    check_shape(i, ctas, ws);
  } catch (const Violation&) {
    return false;
  }
  return true;
}

// 9.7.16.2.1, Table 39.
TEST(ModelMmaInstruction, ShapesAreThoseOfTable39) {
  for (int n = 8; n <= 256; n += 8) {
    for (const Kind kind : {f16, tf32, f8f6f4}) {
      EXPECT_TRUE(exists(shaped(kind, 64, n), 1, false));
      EXPECT_TRUE(exists(shaped(kind, 128, n), 1, false));
      EXPECT_FALSE(exists(shaped(kind, 256, n), 1, false));
      EXPECT_EQ(exists(shaped(kind, 128, n), 2, false), n % 16 == 0);
      EXPECT_EQ(exists(shaped(kind, 256, n, true), 2, false), n % 16 == 0);
      const bool wide = n == 64 || n == 128;
      EXPECT_EQ(exists(shaped(kind, 32, n), 1, true), wide || n == 256);
      EXPECT_EQ(exists(shaped(kind, 128, n, true), 1, true), wide);
      EXPECT_FALSE(exists(shaped(kind, 128, n), 2, true));
    }
    EXPECT_EQ(exists(shaped(i8, 64, n), 1, false), n <= 32 || n % 16 == 0);
    EXPECT_EQ(exists(shaped(i8, 256, n), 2, false), n % 32 == 0);
    EXPECT_FALSE(exists(shaped(mxf8f6f4, 64, n), 1, false));
    EXPECT_TRUE(exists(shaped(mxf4, 128, n), 1, false));
    EXPECT_EQ(exists(shaped(mxf4nvf4, 128, n), 2, false), n % 16 == 0);
    EXPECT_FALSE(exists(shaped(mxf4nvf4, 128, n, true), 2, false));
    EXPECT_EQ(exists(shaped(mxf4nvf4, 256, n, true), 2, false), n % 16 == 0);
    EXPECT_FALSE(exists(shaped(mxf4, 128, n), 1, true));
  }
}

// 9.7.16.10.1, tables 51 and 52.
TEST(ModelMmaInstruction, TransposesAndNegationsAreThoseOfTheTables) {
  MmaInstruction i = shaped(f8f6f4, 128, 24);
  EXPECT_TRUE(exists(i, 1, false));
  i.b_mn_major = true;
  EXPECT_FALSE(exists(i, 1, false)) << "N of an 8-bit transposed B";
  i.n = 48;
  EXPECT_TRUE(exists(i, 1, false));
  EXPECT_FALSE(exists(i, 2, false));
  i = shaped(mxf4, 128, 64);
  i.a_mn_major = true;
  EXPECT_FALSE(exists(i, 1, false));
  i = shaped(i8, 128, 64);
  i.negate_b = true;
  EXPECT_FALSE(exists(i, 1, false));
}

// 9.7.16.10.7.1, tables 56 and 57.
TEST(ModelMmaInstruction, ScalesOfARow) {
  MmaInstruction i = shaped(mxf8f6f4, 128, 64);
  i.scale = Scale::ue8m0;
  EXPECT_EQ(scale_vector(i, false), ptx::ScaleVector::x1);
  EXPECT_THROW(scale_vector(i, true), Violation);
  i.kind = mxf4;
  EXPECT_EQ(scale_vector(i, false), ptx::ScaleVector::x2);
  i.kind = mxf4nvf4;
  EXPECT_EQ(scale_vector(i, false), ptx::ScaleVector::x2);
  EXPECT_EQ(scale_vector(i, true), ptx::ScaleVector::x4);
  i.scale = Scale::ue4m3;
  EXPECT_THROW(scale_vector(i, false), Violation);
  i.k96 = true;
  i.a_byte = 2;
  EXPECT_NO_THROW(scale_vector(i, true));
  i.a_byte = 3;
  EXPECT_THROW(scale_vector(i, true), Violation);
}

struct Mask {
  int start[4], first[4];
  bool non_zero;
  int skip, use, shift;
};
std::uint64_t encode(const Mask& mask) {
  std::uint64_t bits = std::uint64_t{mask.non_zero} << 39;
  for (int i = 0; i < 4; ++i) {
    bits |= static_cast<std::uint64_t>(mask.start[i]) << 8 * i;
    bits |= static_cast<std::uint64_t>(mask.first[i]) << (32 + i);
  }
  return bits | static_cast<std::uint64_t>(mask.skip) << 40 |
         static_cast<std::uint64_t>(mask.use) << 48 | static_cast<std::uint64_t>(mask.shift) << 56;
}
// The lowest bits of a sub-mask, written as the manual does, the lowest last.
std::string lowest(const std::bitset<256>& mask, int first, int count) {
  std::string text;
  for (int i = count; i-- > 0;) text += mask[static_cast<std::size_t>(first + i)] ? '1' : '0';
  return text;
}

// The four examples of 9.7.16.4.3.
TEST(ModelZeroColumnMask, IsAsInTheExamples) {
  EXPECT_TRUE(zero_column_mask(encode({{}, {}, false, 4, 3, 0}), 128, 256).none());
  const auto second = zero_column_mask(encode({{}, {}, true, 2, 3, 0}), 128, 256);
  EXPECT_EQ(lowest(second, 0, 14), "11100001110000");
  const auto third = zero_column_mask(encode({{}, {1, 0}, true, 2, 3, 0}), 64, 128);
  EXPECT_EQ(lowest(third, 0, 17), "11100001110000111");
  EXPECT_EQ(lowest(third, 64, 18), "000011100001110000");
  const std::uint64_t bits = encode({{0, 1, 2, 1}, {1, 1, 0, 0}, true, 2, 3, 2});
  const auto fourth = zero_column_mask(bits, 32, 128);
  EXPECT_EQ(lowest(fourth, 0, 14), "00001110000111");
  EXPECT_EQ(lowest(fourth, 32, 13), "0000111000011");
  EXPECT_EQ(lowest(fourth, 64, 12), "111000011100");
  EXPECT_EQ(lowest(fourth, 96, 13), "1110000111000");
  EXPECT_EQ(column_shift(bits), 2);
}

// 9.7.16.10.9.1, ".collector_usage".
TEST(ModelCollector, UseNeedsAFillThatIsStillValid) {
  Collector buffer;
  EXPECT_THROW(buffer.access(CollectorUse::use, 1), Violation);
  buffer.access(CollectorUse::fill, 1);
  buffer.access(CollectorUse::use, 1);
  EXPECT_THROW(buffer.access(CollectorUse::use, 2), Violation);
  buffer.access(CollectorUse::last_use, 1);
  EXPECT_THROW(buffer.access(CollectorUse::use, 1), Violation);
  buffer.access(CollectorUse::fill, 2);
  buffer.access(CollectorUse::discard, 3);
  EXPECT_THROW(buffer.access(CollectorUse::last_use, 2), Violation);
  EXPECT_THROW(buffer.access(CollectorUse::fill, 2, true), Violation);
  EXPECT_NO_THROW(buffer.access(CollectorUse::discard, 2, true));
}

}  // namespace
}  // namespace assay::model

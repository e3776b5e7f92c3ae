// SPDX-License-Identifier: Apache-2.0
// Kinds of tcgen05.mma with packed operands and block scales, and .ws. Model, not silicon:
// expectations are the manual's (PTX ISA 9.0, 9.7.16.10).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/model/semantics/tensor_memory/tests/tensor_memory_kernel.hpp"
#include "harness/model/tensor_memory/instruction.hpp"

namespace assay::model {
namespace {

using ptx::tcgen05::Accumulator;
using ptx::tcgen05::Element;
using ptx::tcgen05::instruction_descriptor;
using ptx::tcgen05::Kind;
using ptx::tcgen05::Scale;

// K = 64 of e2m1, two to a byte: pairs of 1.0 (code 2) with 0, so that each byte of A times one of
// B counts once, whatever is which half.
struct Packed {
  const char *words, *kind;
  Kind number;
  Scale type;
  int parts;  // scales of a row
  int a_byte, b_byte;
  std::uint32_t one;  // code of 1.0
  int doubling;       // added to a code, doubles the scale
};

// Codes of the scales: 2^exponent.
std::uint32_t code(const Packed& p, int exponent) {
  return p.one + static_cast<std::uint32_t>(p.doubling * exponent);
}
int exponent_a(int row, int part) { return row % 4 - part + row / 32; }
int exponent_b(int column, int part) { return column % 2 + part; }
// Bytes of A of each part count 1.0 or, as e2m1's code 4 says, 2.0.
double value_a(int part) { return part % 2 == 0 ? 1 : 2; }

// Stores the scales: of A in columns 32 to 35, a row of each 32 to a lane; of B in column 36.
std::string scales(const Packed& p) {
  std::string text = "  and.b32 %r4, %tid, 31;\n";
  const auto word = [&](const std::string& to, int first, const std::function<int(int, int)>& of,
                        int lanes) {
    text += "  mov.b32 " + to + ", 0;\n";
    for (int lane = 0; lane < lanes; ++lane) {
      std::uint32_t bits = 0;
      for (int part = 0; part < p.parts; ++part)
        bits |= code(p, of(lane, part)) << (8 * (first + part));
      text += "  setp.eq.u32 %p, %r4, " + std::to_string(lane) + ";\n  @%p mov.b32 " + to + ", " +
              std::to_string(bits) + ";\n";
    }
  };
  for (int column = 0; column < 4; ++column)
    word(
        "%w" + std::to_string(column), p.a_byte,
        [&](int lane, int part) { return exponent_a(32 * column + lane, part); }, 32);
  word("%w4", p.b_byte, exponent_b, 8);
  return text + R"(
  add.u32 %r7, %lanes, 32;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r7], {%w0, %w1, %w2, %w3, %w4, %w4, %w4, %w4};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  add.u32 %r8, %t, 32;
  add.u32 %r9, %t, 36;
)";
}

TEST(TensorMemoryModel, MultipliesPackedFoursByBlockScales) {
  const Packed e8{
      "mxf4.block_scale.scale_vec::2X", "mxf4", Kind::mxf4, Scale::ue8m0, 2, 0, 0, 127, 1};
  Packed upper = e8;  // the scale ids 2 and 0
  upper.a_byte = 2;
  Packed block32 = e8;
  block32.words = "mxf4.block_scale.block32";
  Packed nv2 = e8;
  nv2.words = "mxf4nvf4.block_scale.scale_vec::2X";
  nv2.number = Kind::mxf4nvf4;
  nv2.b_byte = 2;
  // ue4m3: 1.0 is 0x38, and eight codes are a factor of two.
  const Packed nv4{"mxf4nvf4.block_scale.scale_vec::4X",
                   "mxf4nvf4",
                   Kind::mxf4nvf4,
                   Scale::ue4m3,
                   4,
                   0,
                   0,
                   0x38,
                   8};
  Packed block16 = nv4;
  block16.words = "mxf4nvf4.block_scale.block16";
  for (const Packed& p : {e8, upper, block32, nv2, nv4, block16}) {
    std::vector<std::uint8_t> in(8192);
    const int bytes = 32 / p.parts;  // of a part
    for (int k = 0; k < 32; ++k) {
      for (int row = 0; row < 128; ++row)
        in[static_cast<std::size_t>(offset(row, k))] = k / bytes % 2 == 0 ? 0x02 : 0x04;
      for (int row = 0; row < 8; ++row) in[static_cast<std::size_t>(kB + offset(row, k))] = 0x02;
    }
    const std::uint32_t instruction = instruction_descriptor(
        {.kind = p.number, .a = Element::e2m1, .b = Element::e2m1, .m = 128, .n = 8},
        {.type = p.type, .a_byte = p.a_byte, .b_byte = p.b_byte});
    std::string work = multiply(p.words, instruction);
    const std::string accumulate = "%r3, %p;";
    work.replace(work.find(accumulate), accumulate.size(), "%r3, [%r8], [%r9], %p;");
    const Ran ran = run(kernel(scales(p) + by_one(work)), in, 6);
    expect_clean(ran.outcome);
    for (int row = 0; row < 128; ++row)
      for (int column = 0; column < 8; ++column) {
        double sum = 0;
        for (int part = 0; part < p.parts; ++part)
          sum +=
              bytes * value_a(part) * std::exp2(exponent_a(row, part) + exponent_b(column, part));
        ASSERT_EQ(std::bit_cast<float>(ran.out[static_cast<std::size_t>(row * 8 + column)]),
                  static_cast<float>(sum))
            << p.words << " " << row << " " << column;
      }
  }
}

// K = 96, of sm_103a: three or six scales of a row, which begin in any byte of a column and go on
// four columns further on. Model, not silicon: as CUTLASS's tmem_sf_frg has it.
TEST(TensorMemoryModel, ScalesNinetySixElements) {
  const Packed six{
      "mxf4nvf4.block_scale.block16", "mxf4nvf4", Kind::mxf4nvf4, Scale::ue4m3, 6, 2, 0, 0x38, 8};
  Packed three = six;
  three.words = "mxf4nvf4.block_scale.block32";
  three.type = Scale::ue8m0, three.one = 127, three.doubling = 1;
  three.parts = 3, three.a_byte = 3, three.b_byte = 1;
  for (const Packed& p : {six, three}) {
    const int bytes = 48 / p.parts;  // of a part
    const auto at = [](int row, int k) {
      return static_cast<std::size_t>(row / 8 * 384 + k / 16 * 128 + row % 8 * 16 + k % 16);
    };
    constexpr int kBehindA = 128 * 48;
    std::vector<std::uint8_t> in(8192);
    for (int k = 0; k < 48; ++k) {
      for (int row = 0; row < 128; ++row) in[at(row, k)] = k / bytes % 2 == 0 ? 0x02 : 0x04;
      for (int row = 0; row < 8; ++row) in[kBehindA + at(row, k)] = 0x02;
    }
    // Each lane's columns 32 to 39 of A's scales, 40 and 44 of B's.
    std::string text = "  and.b32 %r4, %tid, 31;\n  add.u32 %r7, %lanes, 32;\n";
    for (const bool of_a : {true, false}) {
      for (int column = 0; column < 8; ++column) {
        const std::string to = "%w" + std::to_string(column);
        text += "  mov.b32 " + to + ", 0;\n";
        for (int lane = 0; lane < (of_a ? 32 : 8); ++lane) {
          std::uint32_t bits = 0;
          for (int part = 0; part < p.parts; ++part) {
            const int byte = (of_a ? p.a_byte : p.b_byte) + part, row = column % 4 * 32 + lane;
            if (byte / 4 == column / 4 && (of_a || row < 8))
              bits |= code(p, of_a ? exponent_a(row, part) : exponent_b(row, part))
                      << (byte % 4 * 8);
          }
          text += "  setp.eq.u32 %p, %r4, " + std::to_string(lane) + ";\n  @%p mov.b32 " + to +
                  ", " + std::to_string(bits) + ";\n";
        }
      }
      text +=
          "  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r7], {%w0, %w1, %w2, %w3, %w4, %w5, %w6, "
          "%w7};\n  add.u32 %r7, %lanes, 40;\n";
    }
    text += R"(
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  add.u32 %r8, %t, 32;
  add.u32 %r9, %t, 40;
)";
    const auto descriptor = [](std::uint32_t start) {
      return std::to_string(ptx::tcgen05::matrix_descriptor({start, 128, 384, ptx::Swizzle::none}));
    };
    const std::uint32_t instruction = instruction_descriptor(
        {.kind = p.number, .a = Element::e2m1, .b = Element::e2m1, .m = 128, .n = 8},
        {.type = p.type, .a_byte = p.a_byte, .b_byte = p.b_byte, .k96 = true});
    const std::string work =
        "  mov.b64 %x, " + descriptor(1024) + ";\n  mov.b64 %y, " + descriptor(1024 + kBehindA) +
        ";\n  mov.b32 %r3, " + std::to_string(instruction) +
        ";\n  setp.ne.u32 %p, 0, 0;\n  tcgen05.mma.cta_group::1.kind::" + p.words +
        " [%t], %x, %y, %r3, [%r8], [%r9], %p;\n";
    const Ran ran = run(kernel(text + by_one(work)), in, 6);
    expect_clean(ran.outcome);
    for (int row = 0; row < 128; ++row)
      for (int column = 0; column < 8; ++column) {
        double sum = 0;
        for (int part = 0; part < p.parts; ++part)
          sum +=
              bytes * value_a(part) * std::exp2(exponent_a(row, part) + exponent_b(column, part));
        ASSERT_EQ(std::bit_cast<float>(ran.out[static_cast<std::size_t>(row * 8 + column)]),
                  static_cast<float>(sum))
            << p.words << " " << row << " " << column;
      }
  }
}

TEST(TensorMemoryModel, RefusesScalesThatAKindLacks) {
  const auto rule_of = [](const char* words, Kind kind, Scale scale, int a_byte) {
    const std::uint32_t instruction = instruction_descriptor(
        {.kind = kind, .a = Element::e2m1, .b = Element::e2m1, .m = 128, .n = 8},
        {.type = scale, .a_byte = a_byte});
    std::string work = multiply(words, instruction);
    const std::string accumulate = "%r3, %p;";
    work.replace(work.find(accumulate), accumulate.size(), "%r3, [%t], [%t], %p;");
    const Ran ran = run(kernel(by_one(work)), {}, 0);
    return ran.outcome.findings.empty() ? "" : ran.outcome.findings.back().rule;
  };
  EXPECT_EQ(rule_of("mxf4.block_scale.scale_vec::2X", Kind::mxf4, Scale::ue4m3, 0),
            "tcgen05.instruction_descriptor");
  EXPECT_EQ(rule_of("mxf4.block_scale.scale_vec::2X", Kind::mxf4, Scale::ue8m0, 1),
            "tcgen05.scale_id");
  EXPECT_EQ(rule_of("mxf4nvf4.block_scale.scale_vec::4X", Kind::mxf4nvf4, Scale::ue4m3, 2),
            "tcgen05.scale_id");
  EXPECT_EQ(rule_of("mxf4nvf4.block_scale.scale_vec::2X", Kind::mxf4nvf4, Scale::ue4m3, 0),
            "tcgen05.instruction_descriptor");
}

// .ws: 32, 64 or 128 rows, 64 columns. What lane l and column j of D hold is row l of M rows, and a
// column that lies N / 2 or N / 4 further on for each time the rows fit into the 128 lanes
// (layouts D, E and G).
TEST(TensorMemoryModel, MultipliesWeightStationary) {
  // Columns 0 to 2 of each part are used, 3 and 4 are zeros, and so on: 9.7.16.4.3.
  const std::uint64_t mask = 1ull << 39 | 0xfull << 32 | 2ull << 40 | 1ull << 48;
  for (const int m : {32, 64, 128})
    for (const bool masked : {false, true}) {
      constexpr int kN = 64;
      std::vector<std::uint8_t> in(8192);
      const auto a = [](int row, int k) { return (row * 5 + k * 3) % 16; };
      const auto b = [](int column, int k) { return (column * 7 + k) % 16 - 8; };
      for (int k = 0; k < 32; ++k) {
        for (int row = 0; row < m; ++row)
          in[static_cast<std::size_t>(offset(row, k))] = static_cast<std::uint8_t>(a(row, k));
        for (int column = 0; column < kN; ++column)
          in[static_cast<std::size_t>(kB + offset(column, k))] =
              static_cast<std::uint8_t>(b(column, k));
      }
      const std::uint32_t instruction = instruction_descriptor({.kind = Kind::i8,
                                                                .a = Element::u8,
                                                                .b = Element::s8,
                                                                .m = m,
                                                                .n = kN,
                                                                .d = Accumulator::s32});
      std::string work = multiply("i8", instruction);
      const std::string plain = "tcgen05.mma.", accumulate = "%r3, %p;";
      work.replace(work.find(plain), plain.size(), "tcgen05.mma.ws.");
      if (masked)
        work.replace(work.find(accumulate), accumulate.size(),
                     "%r3, %p, " + std::to_string(mask) + ";");
      const Ran ran = run(kernel(by_one(work)), in, 5);
      expect_clean(ran.outcome);
      const auto zeros = zero_column_mask(masked ? mask : 0, m, kN);
      EXPECT_EQ(zeros.any(), masked);
      for (int lane = 0; lane < 128; ++lane)
        for (int j = 0; j < 8; ++j) {
          const int row = lane % m, column = lane / m * (kN / (128 / m)) + j;
          int sum = 0;
          for (int k = 0; k < 32; ++k) sum += a(row, k) * b(column, k);
          if (zeros[static_cast<std::size_t>(column)]) sum = 0;
          ASSERT_EQ(static_cast<int>(ran.out[static_cast<std::size_t>(lane * 8 + j)]), sum)
              << "M = " << m << ", lane " << lane << ", column " << j;
        }
    }
}

TEST(TensorMemoryModel, RefusesWeightStationaryShapesThatAreNone) {
  const std::uint32_t narrow = instruction_descriptor(
      {.kind = Kind::f16, .a = Element::bf16, .b = Element::bf16, .m = 64, .n = 32});
  std::string work = multiply("f16", narrow);
  const std::string plain = "tcgen05.mma.";
  work.replace(work.find(plain), plain.size(), "tcgen05.mma.ws.");
  EXPECT_TRUE(found(run(kernel(by_one(work)), {}, 0).outcome, "tcgen05.instruction_descriptor"));
}

}  // namespace
}  // namespace assay::model

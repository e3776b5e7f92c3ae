// SPDX-License-Identifier: Apache-2.0
#include "probes/sass/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "harness/element.hpp"
#include "harness/instruction/registry.hpp"
#include "harness/instruction/row_ptx.hpp"

namespace assay::scalar {
namespace {

std::vector<const RegisteredRow*> scalar_rows() {
  std::vector<const RegisteredRow*> all;
  for (const RegisteredRow& registered : instruction_rows())
    if (registered.group == "sass") all.push_back(&registered);
  return all;
}

// What register 0 of a row's first chain holds after one step.
Bits after_one_step(const std::string& name) {
  const InstructionRow* row = find_instruction("sass/" + name);
  if (!row || !row->step_bits) {
    ADD_FAILURE() << "no row with an exact step is named sass/" << name;
    return 0;
  }
  const int bits = register_bits(row->chain);
  const Bits mask = bits == 64 ? ~Bits{0} : (Bits{1} << bits) - 1;
  return row->step_bits(chain_start(*row, 0), input_bits(*row, 0), input_bits(*row, 1), 0) & mask;
}

float as_float(Bits bits) { return std::bit_cast<float>(static_cast<Word>(bits)); }

TEST(ScalarRows, CoverTheCommonInstructions) {
  EXPECT_GE(scalar_rows().size(), 230u);
  for (const char* name :
       {"ffma/f32", "dfma/f64", "hfma2/f16x2", "ffma2/f32x2", "iadd3/s32", "imad/s32", "lop3/b32",
        "shf/b32", "prmt/b32", "popc/b32", "mufu/rcp", "idp/dp4a_s32_s32", "viaddmnmx/max_s32",
        "f2fp/e4m3x2_f32", "shfl/bfly_b32", "redux/add_u32", "uiadd3/s32"})
    EXPECT_NE(find_instruction(std::string("sass/") + name), nullptr) << name;
}

TEST(ScalarRows, HaveAModelAndRulesForEveryTargetTheyClaim) {
  for (const RegisteredRow* registered : scalar_rows()) {
    const InstructionRow& row = registered->row;
    EXPECT_TRUE(row.step || row.step_bits) << registered->name;
    EXPECT_GT(row.ops, 0) << registered->name;
    EXPECT_LE(row.inputs.size(), 3u) << registered->name;
    for (const Target target : row.targets.empty() ? all_gpu_targets() : row.targets) {
      const std::vector<SassRule> rules = row.sass(target);
      EXPECT_FALSE(rules.empty()) << registered->name << " for " << name(target);
      for (const SassRule& rule : rules)
        EXPECT_FALSE(rule.opcode.empty()) << registered->name << " for " << name(target);
    }
  }
}

TEST(ScalarRows, OpcodeBeginsTheName) {
  // A row is named for what it becomes on at least one target, in lower case.
  for (const RegisteredRow* registered : scalar_rows()) {
    const InstructionRow& row = registered->row;
    std::string opcode = row.name.substr(0, row.name.find('/'));
    std::ranges::transform(opcode, opcode.begin(), [](unsigned char c) { return std::toupper(c); });
    bool found = false;
    for (const Target target : row.targets.empty() ? all_gpu_targets() : row.targets)
      for (const SassRule& rule : row.sass(target))
        found |= rule.opcode.find(opcode) != std::string::npos;
    EXPECT_TRUE(found) << registered->name;
  }
}

// So do the operands of rows that read narrow floats of a chain of other bits.
TEST(ScalarRows, NarrowFloatsThatAreReadAreNumbers) {
  for (const RegisteredRow* registered : scalar_rows()) {
    const InstructionRow& row = registered->row;
    const auto from = row.ptx.find("16x2.e");  // "cvt.rn.f16x2.e4m3x2"
    if (from == std::string::npos) continue;
    const std::string type = row.ptx.substr(from + 5, 4);
    for (int chain = 0; chain < row.chains; ++chain) {
      Bits d = chain_start(row, chain);
      for (int n = 0; n < 256; ++n) {
        for (int at = 0; at < 2 * element_bits(type); at += element_bits(type))
          EXPECT_TRUE(std::isfinite(unpack(type, d >> at))) << registered->name << " step " << n;
        d = row.step_bits(d, input_bits(row, 0), input_bits(row, 1), 0);
      }
    }
  }
}

// A NaN would hide whether the value that a chain ends with is the right one.
TEST(ScalarRows, FloatsStayNumbers) {
  for (const RegisteredRow* registered : scalar_rows()) {
    const InstructionRow& row = registered->row;
    if (!row.step_bits || is_integer(row.chain.element)) continue;
    for (int chain = 0; chain < row.chains; ++chain) {
      Bits d = chain_start(row, chain);
      for (int n = 0; n < 256; ++n) d = row.step_bits(d, input_bits(row, 0), input_bits(row, 1), 0);
      const double value = unpack(row.chain.element, d);
      EXPECT_TRUE(std::isfinite(value)) << registered->name << " chain " << chain;
    }
  }
}

TEST(ScalarStep, RoundsAsAsked) {
  EXPECT_EQ(toward_zero(1 + 0x1.8p-24), 1.0f);
  EXPECT_EQ(toward_zero(-1 - 0x1.8p-24), -1.0f);
  EXPECT_EQ(downward(-1 - 0x1p-30), std::nextafter(-1.0f, -2.0f));
  EXPECT_EQ(downward(1 + 0x1.8p-24), 1.0f);
}

TEST(ScalarStep, OfFloats) {
  EXPECT_EQ(as_float(after_one_step("ffma/f32")), 0.75f);               // 1 / 2 + 1 / 4
  EXPECT_EQ(as_float(after_one_step("fmnmx/min_f32")), -1.0f);          // min(-1, 1 / 2)
  EXPECT_EQ(as_float(after_one_step("fmnmx/max_f32_xorsign")), -2.0f);  // signs of 2 and -1 / 2
  EXPECT_EQ(after_one_step("hfma2/f16x2"), 0x3a003a00u);                // 0.75 twice
  EXPECT_EQ(after_one_step("ffma2/f32x2"), 0x3f4000003f400000u);
  EXPECT_EQ(as_float(after_one_step("fhfma/f32_bf16")), 1.125f);  // 1 + 1 / 2 * 1 / 4
}

TEST(ScalarStep, OfIntegers) {
  EXPECT_EQ(after_one_step("iadd3/s32_carry"), 1u + 0x90000001 + 5);  // no carry out of the first
  EXPECT_EQ(after_one_step("imad/hi_u32"), 0x7fff122cu + 0x1234567);
  EXPECT_EQ(after_one_step("vabsdiff4/u8"), 0x01010101u + 0x54 + 0x64 + 0x74 + 0x84);
  // 7f 80 81 fe times 84 fd 03 79, bytes with their signs: 127 * -124 + -128 * -3 + ...
  EXPECT_EQ(static_cast<std::int32_t>(after_one_step("idp/dp4a_s32_s32")),
            1 + 127 * -124 + -128 * -3 + -127 * 3 + -2 * 121);
  EXPECT_EQ(after_one_step("idp/dp4a_u32_u32"), 1u + 127 * 132 + 128 * 253 + 129 * 3 + 254 * 121);
  // 7f80 and 81fe times the lower bytes 03 and 79.
  EXPECT_EQ(static_cast<std::int32_t>(after_one_step("idp/dp2a_lo_s32_s32")),
            1 + 0x7f80 * 3 + (0x81fe - 0x10000) * 121);
  EXPECT_EQ(after_one_step("viaddmnmx/max_s16x2"), 0x00400040u);  // {1 + 3, 1 + 3} under 0x40
  EXPECT_EQ(after_one_step("redux/add_u32"), 32u * 0x12345);
}

TEST(ScalarStep, OfBits) {
  EXPECT_EQ(after_one_step("shf/b32"), 0x3333u << 5 | 0x12345678u >> 27);
  EXPECT_EQ(after_one_step("prmt/b32"), 0x33123456u);
  EXPECT_EQ(after_one_step("brev/b32"), 0x1e6a2c48u);
  EXPECT_EQ(after_one_step("bmsk/clamp_b32"), 0x3eu);        // five bits from bit 1
  EXPECT_EQ(after_one_step("sgxt/clamp_s32"), 0xfffffffdu);  // the lower three bits of 0x2d5
  EXPECT_EQ(after_one_step("flo/s32"), 27u);
}

TEST(ScalarStep, OfConversions) {
  EXPECT_EQ(after_one_step("f2i/s32_f32"), 0x00800000u ^ 0x4b800000u);
  EXPECT_EQ(after_one_step("i2fp/f32_s32"), 0x447a0000u);    // 1000
  EXPECT_EQ(after_one_step("f2fp/f16x2_f32"), 0x3e003ccdu);  // 1.5 and 1.2
  EXPECT_EQ(after_one_step("f2fp/f16x2_f32_rz"), 0x3e003cccu);
  EXPECT_EQ(after_one_step("f2fp/bf16x2_f32"), 0x3fc03f9au);
  EXPECT_EQ(after_one_step("f2fp/e4m3x2_f32"), 0x3f803c3au);  // 1.5 and 1.25 under a constant
  EXPECT_EQ(after_one_step("f2fp/e5m2x2_f32"), 0x3f803e3du);
  EXPECT_EQ(after_one_step("f2fp/ue8m0x2_f32_rz"), 0x3f807f7fu);
  EXPECT_EQ(after_one_step("f2fp/ue8m0x2_f32_rp"), 0x3f808080u);
  EXPECT_EQ(after_one_step("f2fp/e2m1x2_f32"), 0x3f3f3f32u);  // 1.5 and 1
  EXPECT_EQ(after_one_step("i2ip/u8_s32"), 0x33550577u);
}

}  // namespace
}  // namespace assay::scalar

// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/mma_form.hpp"

#include <gtest/gtest.h>

#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

std::vector<std::string_view> cut(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

MmaForm form(std::string_view text, Machine machine = Machine::hopper) {
  return mma_form(machine, cut(text));
}

struct Registers {
  const char* instruction;
  int a, b, d;
};

// As many registers as the manual's syntax has, of one thread.
TEST(MmaForm, HasTheManualsRegisters) {
  for (const Registers& r : {
           Registers{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4},
           {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2},
           {"mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32", 2, 2, 8},
           {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", 2, 2, 4},
           {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4},
           {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2},
           {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4},
           {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 2, 4},
           {"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32", 4, 2, 4},
           {"mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32", 1, 1, 2},
           {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 4},
           {"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32", 4, 2, 4},
           {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
            4, 2, 4},
           {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1."
            "e2m1.f32.ue4m3",
            4, 2, 4},
           {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 4},
           {"mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 4, 4, 4},
           {"mma.sp.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32", 4, 4, 4},
       }) {
    const MmaForm f = form(r.instruction, Machine::blackwell);
    EXPECT_EQ(f.a.registers(), r.a) << r.instruction;
    EXPECT_EQ(f.b.registers(), r.b) << r.instruction;
    EXPECT_EQ(f.d.registers(), r.d) << r.instruction;
    EXPECT_EQ(f.c.registers(), r.d) << r.instruction;
  }
}

TEST(MmaForm, KnowsHowSure) {
  EXPECT_EQ(form("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32").arithmetic.certainty,
            Certainty::measured);
  EXPECT_EQ(form("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32").arithmetic.certainty,
            Certainty::inferred);
  EXPECT_EQ(form("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32").arithmetic.certainty,
            Certainty::bounded);
  EXPECT_EQ(form("mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32").arithmetic.certainty,
            Certainty::inferred);
  EXPECT_EQ(form("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Machine::blackwell)
                .arithmetic.certainty,
            Certainty::bounded);
}

TEST(MmaForm, PlacesSmallFloatsInBytes) {
  const MmaForm f =
      form("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32", Machine::blackwell);
  std::vector<Word> a(16 * 32), b(8 * 32);
  f.a.gather<Word>([](int, int) { return Word{0xffffffff}; }, a);
  f.b.gather<Word>([](int, int) { return Word{0x81828384}; }, b);
  EXPECT_EQ(a[0], 0xfu);
  EXPECT_EQ(b[0], 4u);
  EXPECT_EQ(b[3], 1u);
  f.a.gather<Word>([](int, int) { return Word{0x3c3c3c04}; }, a);
  EXPECT_EQ(a[0], 1u);
  const MmaForm scaled =
      form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
           Machine::blackwell);
  EXPECT_EQ(scaled.arithmetic.block, 32);
  EXPECT_EQ(scaled.arithmetic.scales(), 2);
}

std::string rule_of(std::string_view text) {
  try {
    form(text);
  } catch (const Violation& violation) {
    return violation.rule();
  }
  return "";
}

TEST(MmaForm, RefusesWhatTheManualDoesNotHave) {
  EXPECT_EQ(rule_of("mma.sync.aligned.m16n8k16.row.col.relu.f32.bf16.bf16.f32"), "mma.modifier");
  for (const char* wrong :
       {"mma.sync.aligned.m16n8k64.row.col.f32.bf16.bf16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
        "mma.sync.aligned.m16n8k16.col.row.f32.bf16.bf16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16",
        "mma.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.bf16.bf16.f32",
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32",
        "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32",
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e2m1.f32",
        "mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16",
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::4X.f32.e4m3.e2m1."
        "f32.ue8m0"})
    EXPECT_EQ(rule_of(wrong), "mma.form") << wrong;
}

}  // namespace
}  // namespace assay::model::matrix

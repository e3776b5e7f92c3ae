// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/tcgen05_form.hpp"

#include <gtest/gtest.h>

#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

using ptx::tcgen05::Accumulator;
using ptx::tcgen05::Element;
using ptx::tcgen05::Instruction;
using ptx::tcgen05::instruction_descriptor;
using ptx::tcgen05::Kind;

Tcgen05Form form(std::string_view text, std::uint32_t descriptor) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return tcgen05_form(words, descriptor);
}

constexpr std::string_view kF16 = "tcgen05.mma.cta_group::1.kind::f16";

TEST(Tcgen05Form, ReadsWhatTheEncoderMakes) {
  const Tcgen05Form plain = form("tcgen05.mma.cta_group::2.kind::f16.collector::a::fill",
                                 instruction_descriptor({.kind = Kind::f16,
                                                         .a = Element::bf16,
                                                         .b = Element::f16,
                                                         .m = 256,
                                                         .n = 112,
                                                         .b_mn_major = true,
                                                         .negate_a = true}));
  EXPECT_EQ(plain.arithmetic.a, Type::bf16);
  EXPECT_EQ(plain.arithmetic.b, Type::f16);
  EXPECT_EQ(plain.arithmetic.d, Type::f32);
  EXPECT_EQ(plain.arithmetic.m, 256);
  EXPECT_EQ(plain.arithmetic.n, 112);
  EXPECT_EQ(plain.k, 16);
  EXPECT_TRUE(plain.negate_a && plain.b_mn_major && !plain.negate_b && !plain.a_mn_major);
  EXPECT_EQ(plain.shape_of_a().rows, 128);
  EXPECT_EQ(plain.shape_of_b().rows, 56);
  EXPECT_EQ(plain.arithmetic.certainty, Certainty::bounded);

  for (const auto& [element, type] : {std::pair{Element::e4m3, Type::e4m3},
                                      {Element::e5m2, Type::e5m2},
                                      {Element::e2m3, Type::e2m3},
                                      {Element::e3m2, Type::e3m2},
                                      {Element::e2m1, Type::e2m1}}) {
    const Tcgen05Form f =
        form("tcgen05.mma.cta_group::1.kind::f8f6f4",
             instruction_descriptor(
                 {.kind = Kind::f8f6f4, .a = element, .b = Element::e4m3, .m = 64, .n = 8}));
    EXPECT_EQ(f.arithmetic.a, type);
    EXPECT_EQ(chunk_count(f.shape_of_a()), 128);  // sixteen elements each, whatever their size
  }
  const Tcgen05Form i8 =
      form("tcgen05.mma.sp.cta_group::1.kind::i8", instruction_descriptor({.kind = Kind::i8,
                                                                           .a = Element::s8,
                                                                           .b = Element::u8,
                                                                           .m = 128,
                                                                           .n = 48,
                                                                           .sparse = true,
                                                                           .sparsity_selector = 1,
                                                                           .d = Accumulator::s32,
                                                                           .saturate = true}));
  EXPECT_TRUE(i8.arithmetic.saturate && i8.sparse);
  EXPECT_EQ(i8.k, 64);
  EXPECT_EQ(i8.arithmetic.k, 32);
  EXPECT_EQ(i8.sparsity_selector, 1);
  const Tcgen05Form ws =
      form("tcgen05.mma.ws.cta_group::1.kind::tf32", instruction_descriptor({.kind = Kind::tf32,
                                                                             .a = Element::tf32,
                                                                             .b = Element::tf32,
                                                                             .m = 32,
                                                                             .n = 64,
                                                                             .largest_shift = 16}));
  EXPECT_EQ(ws.largest_shift, 16);
}

TEST(Tcgen05Form, ReadsBlockScales) {
  const Instruction fp4{
      .kind = Kind::mxf4nvf4, .a = Element::e2m1, .b = Element::e2m1, .m = 128, .n = 24};
  const Tcgen05Form f = form("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16",
                             instruction_descriptor(fp4, {.type = ptx::tcgen05::Scale::ue4m3}));
  EXPECT_EQ(f.arithmetic.scale, matrix::Scale::ue4m3);
  EXPECT_EQ(f.arithmetic.scales(), 4);
  EXPECT_EQ(f.shape_of_b().row.elements(), 32);
  const Tcgen05Form k96 = form(
      "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block32",
      instruction_descriptor(fp4, {.type = ptx::tcgen05::Scale::ue8m0, .b_byte = 2, .k96 = true}));
  EXPECT_EQ(k96.k, 96);
  EXPECT_EQ(k96.arithmetic.scales(), 3);
  EXPECT_EQ(k96.scale_byte_b, 2);
  const Tcgen05Form fp8 =
      form("tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X",
           instruction_descriptor(
               {.kind = Kind::mxf8f6f4, .a = Element::e4m3, .b = Element::e2m1, .m = 256, .n = 16},
               {.type = ptx::tcgen05::Scale::ue8m0, .a_byte = 3}));
  EXPECT_EQ(fp8.arithmetic.scales(), 1);
  EXPECT_EQ(fp8.scale_byte_a, 3);
}

std::string rule_of(std::string_view text, std::uint32_t descriptor) {
  try {
    form(text, descriptor);
  } catch (const Violation& violation) {
    return violation.rule();
  }
  return "";
}

TEST(Tcgen05Form, RefusesWhatTheManualDoesNotHave) {
  const auto f16 = [](int m, int n) {
    return instruction_descriptor(
        {.kind = Kind::f16, .a = Element::f16, .b = Element::f16, .m = m, .n = n});
  };
  EXPECT_EQ(rule_of(kF16, f16(128, 256)), "");
  const std::string bad = "tcgen05.instruction_descriptor";
  EXPECT_EQ(rule_of(kF16, f16(256, 64)), bad);
  EXPECT_EQ(rule_of("tcgen05.mma.cta_group::2.kind::f16", f16(256, 24)), bad);
  EXPECT_EQ(rule_of("tcgen05.mma.ws.cta_group::1.kind::f16", f16(64, 32)), bad);
  EXPECT_EQ(rule_of("tcgen05.mma.sp.cta_group::1.kind::f16", f16(128, 64)), bad);
  EXPECT_EQ(rule_of("tcgen05.mma.cta_group::1.kind::tf32", f16(128, 64)), bad);
  EXPECT_EQ(rule_of(kF16, f16(128, 64) | 1u << 6), bad);
  EXPECT_EQ(rule_of(kF16, f16(128, 64) | 1u << 3), bad);
  EXPECT_EQ(rule_of(kF16, (f16(128, 64) & ~(3u << 4)) | 2u << 4), bad);
  EXPECT_EQ(rule_of("tcgen05.mma.cta_group::1.kind::f16.relu", f16(128, 64)), "tcgen05.modifier");
  for (const char* wrong :
       {"tcgen05.mma.kind::f16", "tcgen05.mma.cta_group::1", "tcgen05.mma.cta_group::1.kind::f12",
        "tcgen05.mma.ws.cta_group::2.kind::f16", "tcgen05.mma.cta_group::1.kind::mxf4",
        "tcgen05.mma.cta_group::1.kind::f16.block_scale"})
    EXPECT_EQ(rule_of(wrong, f16(128, 64)), "tcgen05.form") << wrong;
}

}  // namespace
}  // namespace assay::model::matrix

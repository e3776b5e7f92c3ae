// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/wgmma_form.hpp"

#include <gtest/gtest.h>

#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

WgmmaForm form(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return wgmma_form(words);
}

TEST(WgmmaForm, HasTheManualsRegisters) {
  const WgmmaForm bf16 = form("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16");
  EXPECT_EQ(bf16.d.registers(), 128);
  EXPECT_EQ(bf16.a.registers(), 4);
  EXPECT_EQ(bf16.arithmetic.certainty, Certainty::measured);
  EXPECT_TRUE(bf16.has_signs && bf16.has_transposes);
  EXPECT_EQ(chunk_count(bf16.shape_of_a(false)), 128);
  EXPECT_EQ(chunk_count(bf16.shape_of_b(true)), 512);
  const WgmmaForm f16 = form("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16");
  EXPECT_EQ(f16.d.registers(), 2);
  const WgmmaForm fp8 = form("wgmma.mma_async.sync.aligned.m64n24k32.f32.e4m3.e5m2");
  EXPECT_EQ(fp8.a.registers(), 4);
  EXPECT_FALSE(fp8.has_transposes);
  EXPECT_THROW(fp8.shape_of_b(true), Violation);
  const WgmmaForm s8 = form("wgmma.mma_async.sync.aligned.m64n32k32.satfinite.s32.s8.u8");
  EXPECT_TRUE(s8.arithmetic.saturate);
  EXPECT_FALSE(s8.has_signs);
  const WgmmaForm b1 = form("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc");
  EXPECT_EQ(b1.arithmetic.bit_operation, BitOperation::bit_and);
  EXPECT_EQ(b1.a.registers(), 4);
  const WgmmaForm sparse = form("wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16");
  EXPECT_EQ(sparse.a.registers(), 4);
  EXPECT_EQ(sparse.shape_of_b(false).k, 32);
  EXPECT_EQ(sparse.shape_of_a(false).k, 16);
  EXPECT_EQ(sparse.sparsity->selectors(), 2);
  EXPECT_EQ(form("wgmma.mma_async.sp.sync.aligned.m64n64k64.s32.s8.s8").sparsity->selectors(), 1);
}

std::string rule_of(std::string_view text) {
  try {
    form(text);
  } catch (const Violation& violation) {
    return violation.rule();
  }
  return "";
}

TEST(WgmmaForm, RefusesWhatTheManualDoesNotHave) {
  EXPECT_EQ(rule_of("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16.row"), "wgmma.modifier");
  for (const char* wrong : {"wgmma.mma_async.sync.aligned.m64n8k8.f32.bf16.bf16",
                            "wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16",
                            "wgmma.mma_async.sync.aligned.m64n264k16.f32.bf16.bf16",
                            "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8",
                            "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16",
                            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.f16",
                            "wgmma.mma_async.aligned.m64n8k16.f32.bf16.bf16",
                            "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1",
                            "wgmma.mma_async.sync.aligned.satfinite.m64n8k16.f32.bf16.bf16"})
    EXPECT_EQ(rule_of(wrong), "wgmma.form") << wrong;
}

}  // namespace
}  // namespace assay::model::matrix

// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/wgmma_form.hpp"

#include <gtest/gtest.h>

#include "harness/model/violation.hpp"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"

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

// From shared memory and registers to registers, as a machine does it: D = -A B + D, A K-major in
// shared memory or in registers, B stored [k][n] in two boxes of 64 columns.
TEST(WgmmaForm, MultipliesFromSharedMemoryToRegisters) {
  const WgmmaForm f = form("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16");
  const auto a_value = [](int m, int k) { return (3 * m + 5 * k) % 17 - 8; };
  const auto b_value = [](int n, int k) { return (7 * n + 2 * k) % 13 - 6; };
  const auto bf16 = [](int value) {
    return static_cast<Word>(numerics::encode(format_of(Type::bf16), value));
  };
  constexpr std::uint32_t kA = 1024, kB = kA + 64 * 128, kBox = 16 * 128;
  std::vector<std::uint8_t> shared(kB + 2 * kBox);
  const auto put = [&](std::uint32_t base, std::uint32_t offset, Word bits) {
    const std::uint32_t at = base + ptx::swizzle_offset(ptx::Swizzle::bytes128, offset);
    shared[at] = static_cast<std::uint8_t>(bits);
    shared[at + 1] = static_cast<std::uint8_t>(bits >> 8);
  };
  for (int k = 0; k < 16; ++k) {
    for (int m = 0; m < 64; ++m)
      put(kA, static_cast<std::uint32_t>(m * 128 + 64 + k * 2), bf16(a_value(m, k)));
    for (int n = 0; n < 128; ++n)
      put(kB + static_cast<std::uint32_t>(n / 64) * kBox,
          static_cast<std::uint32_t>(k * 128 + n % 64 * 2), bf16(b_value(n, k)));
  }
  std::vector<Word> a(64 * 16), b(128 * 16), c(64 * 128, 0x40000000), d(c.size());
  gather(wgmma_operand(ptx::advance(ptx::encode_k_major_128b(kA), 64)), f.shape_of_a(false), shared,
         a);
  gather(wgmma_operand(ptx::encode({kB, kBox, 8 * 128, ptx::Swizzle::bytes128})),
         f.shape_of_b(true), shared, b);
  std::vector<Word> registers(128 * 4), again(a.size());
  const auto at = [](int thread, int reg) { return static_cast<std::size_t>(reg * 128 + thread); };
  f.a.scatter<Word>(a, [&](int thread, int reg, Word bits) { registers[at(thread, reg)] = bits; });
  f.a.gather<Word>([&](int thread, int reg) { return registers[at(thread, reg)]; }, again);
  EXPECT_EQ(again, a);
  negate(Type::bf16, a);
  multiply(f.arithmetic, {a, b, c}, d);
  std::vector<Word> accumulators(128 * 64);
  f.d.scatter<Word>(d,
                    [&](int thread, int reg, Word bits) { accumulators[at(thread, reg)] = bits; });
  for (int thread : {0, 37, 127})
    for (int reg = 0; reg < 64; ++reg) {
      const auto [m, n] = position_in_d(64, 1, {thread, reg, 0});
      double sum = 2;
      for (int k = 0; k < 16; ++k) sum -= a_value(m, k) * b_value(n, k);
      EXPECT_EQ(value_of(Type::f32, accumulators[at(thread, reg)]), sum);
    }
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

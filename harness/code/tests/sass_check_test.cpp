// SPDX-License-Identifier: Apache-2.0
#include "harness/code/sass_check.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/code/assembler.hpp"
#include "harness/code/tests/samples.hpp"

namespace assay {
namespace {

SassFindings checked(const std::string& ptx, const std::string& kernel, Target target,
                     KernelUse use) {
  const Assembled assembled = assemble(ptx, target);
  return check_sass(
      {.elf = assembled.cubin, .symbol = kernel, .target = target, .use = std::move(use)});
}

int count(const OpcodeCount& census, const std::string& opcode) {
  int total = 0;
  for (const auto& [found, n] : census) total += Instruction{.opcode = found}.is(opcode) ? n : 0;
  return total;
}

std::string all_problems(const SassFindings& findings) {
  std::string text;
  for (const std::string& problem : findings.problems) text += problem + "\n";
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class SassCheckTarget : public ::testing::TestWithParam<Target> {};

TEST_P(SassCheckTarget, KeptChainIsVerified) {
  const SassFindings findings =
      checked(samples::fma_chain(GetParam()), "fma_chain", GetParam(),
              {.kernel = "fma_chain", .sass = {{"FFMA", 8, 8}, {"STG", 1, 3, SassWhere::kernel}}});
  EXPECT_TRUE(findings.verified()) << all_problems(findings);
  EXPECT_EQ(count(findings.loop, "FFMA"), 8);
  EXPECT_TRUE(contains(findings.loop_text, "FFMA R"));
  EXPECT_EQ(findings.sha256.size(), 64u);
  EXPECT_TRUE(findings.calls.empty());
  EXPECT_FALSE(findings.local_memory);
}

TEST_P(SassCheckTarget, AlternativesAreCountedTogether) {
  const auto with = [](const char* opcodes) {
    return checked(samples::fma_chain(GetParam()), "fma_chain", GetParam(),
                   {.kernel = "fma_chain", .sass = {{opcodes, 8, 8}}});
  };
  EXPECT_TRUE(with("HFMA2|FFMA").verified());
  EXPECT_TRUE(with("FFMA|FADD|FMUL").verified());
  EXPECT_FALSE(with("HFMA2|FADD").verified());
}

TEST_P(SassCheckTarget, HoistedWorkIsAMismatch) {
  const SassFindings findings = checked(samples::hoisted(GetParam()), "hoisted", GetParam(),
                                        {.kernel = "hoisted", .sass = {{"MUFU.SIN", 2}}});
  EXPECT_FALSE(findings.verified());
  EXPECT_TRUE(contains(all_problems(findings), "expected at least 2 MUFU.SIN in the loop, found 0"))
      << all_problems(findings);
  EXPECT_TRUE(contains(all_problems(findings), "holds: ")) << all_problems(findings);
  EXPECT_EQ(count(findings.whole, "MUFU.SIN"), 2);
}

TEST_P(SassCheckTarget, LocalMemoryMustBeAllowed) {
  const std::string ptx = samples::local_array(GetParam());
  const SassFindings strict = checked(ptx, "local_array", GetParam(), {.kernel = "local_array"});
  EXPECT_TRUE(strict.local_memory);
  EXPECT_GE(strict.stack_bytes, 256u);
  EXPECT_TRUE(contains(all_problems(strict), "local memory")) << all_problems(strict);
  const SassFindings lenient =
      checked(ptx, "local_array", GetParam(), {.kernel = "local_array", .local_memory = true});
  EXPECT_TRUE(lenient.verified()) << all_problems(lenient);
}

// mma.sync on 8-bit floats: QMMA where the hardware has it, conversions and HMMA elsewhere.
TEST_P(SassCheckTarget, EightBitFloatMultiply) {
  const Target target = GetParam();
  const bool native = has(target, Feature::mma_fp8);
  const SassFindings findings = checked(samples::mma_e4m3(target), "mma_e4m3", target,
                                        {.kernel = "mma_e4m3", .sass = {{"QMMA", 1, 1}}});
  EXPECT_EQ(findings.verified(), native) << all_problems(findings);
  EXPECT_EQ(count(findings.loop, "QMMA"), native ? 1 : 0);
  EXPECT_EQ(count(findings.loop, "HMMA") > 0, !native);
  EXPECT_EQ(count(findings.whole, "F2FP") > 0, !native);
}

// 4-bit integers have been a routine's work since sm_90.
TEST_P(SassCheckTarget, FourBitIntegerMultiply) {
  const Target target = GetParam();
  const bool native = has(target, Feature::mma_s4);
  const std::string ptx = samples::mma_s4(target);
  const SassFindings findings =
      checked(ptx, "mma_s4", target, {.kernel = "mma_s4", .sass = {{"IMMA"}}});
  EXPECT_EQ(findings.verified(), native) << all_problems(findings);
  EXPECT_EQ(findings.calls.empty(), native);
  if (native) return;
  EXPECT_TRUE(contains(all_problems(findings), "the loop calls ")) << all_problems(findings);
  EXPECT_TRUE(contains(findings.calls.front(), "mma_sub_byte")) << findings.calls.front();
  const SassFindings emulated =
      checked(ptx, "mma_s4", target, {.kernel = "mma_s4", .sass = {{"CALL", 1}}, .emulated = true});
  EXPECT_TRUE(emulated.verified()) << all_problems(emulated);
}

INSTANTIATE_TEST_SUITE_P(Gpu, SassCheckTarget, ::testing::ValuesIn(all_gpu_targets()),
                         [](const auto& target) { return std::string(name(target.param)); });

// A loop that fetches may hold more of what is asked of the whole kernel than the loop that works.
TEST(SassCheck, RulesForTheKernelDoNotChooseTheLoop) {
  const std::string ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry two(.param .u64 p, .param .u32 n) {
  .reg .u64 %a; .reg .u32 %i, %n; .reg .f32 %x, %y; .reg .pred %q;
  ld.param.u64 %a, [p]; ld.param.u32 %n, [n]; mov.f32 %x, 0f3F800000; mov.u32 %i, %n;
fetch:
  .pragma "nounroll";
  st.volatile.global.u32 [%a], %i; st.volatile.global.u32 [%a+4], %i;
  st.volatile.global.u32 [%a+8], %i; st.volatile.global.u32 [%a+12], %i;
  sub.u32 %i, %i, 1; setp.ne.u32 %q, %i, 0; @%q bra fetch;
  mov.u32 %i, %n; mov.f32 %y, 0f3F000000;
work:
  .pragma "nounroll";
  fma.rn.f32 %x, %x, %y, %x; fma.rn.f32 %x, %x, %y, %y;
  sub.u32 %i, %i, 1; setp.ne.u32 %q, %i, 0; @%q bra work;
  st.global.f32 [%a], %x; ret;
})";
  const SassFindings findings =
      checked(ptx, "two", Target::sm_90a,
              {.kernel = "two", .sass = {{"FFMA", 2, 2}, {"STG", 5, 5, SassWhere::kernel}}});
  EXPECT_TRUE(findings.verified()) << all_problems(findings);
}

TEST(SassCheck, WarpgroupMultiply) {
  const SassFindings findings =
      checked(samples::wgmma_bf16(), "wgmma_bf16", Target::sm_90a,
              {.kernel = "wgmma_bf16", .sass = {{"HGMMA.64x8x16.F32.BF16", 1, 1}}});
  EXPECT_TRUE(findings.verified()) << all_problems(findings);
}

TEST(SassCheck, WrongTargetIsAProblem) {
  const Assembled assembled = assemble(samples::fma_chain(Target::sm_89), Target::sm_89);
  const SassFindings findings = check_sass({.elf = assembled.cubin,
                                            .symbol = "fma_chain",
                                            .target = Target::sm_90a,
                                            .use = {.kernel = "fma_chain"}});
  EXPECT_TRUE(contains(all_problems(findings), "the code is for sm_89, not sm_90a"));
}

TEST(SassCheck, OneBadImageDoesNotSpoilTheOthers) {
  const Assembled good = assemble(samples::fma_chain(Target::sm_90a), Target::sm_90a);
  const std::vector<char> bad(100, 'x');
  const KernelUse use = {.kernel = "fma_chain", .sass = {{"FFMA", 8}}};
  const std::vector<SassRequest> requests = {{bad, "fma_chain", Target::sm_90a, use},
                                             {good.cubin, "fma_chain", Target::sm_90a, use}};
  const auto findings = check_sass(requests);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_FALSE(findings[0].verified());
  EXPECT_TRUE(findings[1].verified()) << all_problems(findings[1]);
}

TEST(SassCheck, AtMostAndExactBounds) {
  const SassFindings findings = checked(
      samples::fma_chain(Target::sm_90a), "fma_chain", Target::sm_90a,
      {.kernel = "fma_chain", .sass = {{"FFMA", 0, 3}, {"FFMA", 9, 9}, {"DFMA", 0, 0}, {"FF", 1}}});
  ASSERT_EQ(findings.problems.size(), 3u) << all_problems(findings);
  EXPECT_TRUE(contains(findings.problems[0], "expected at most 3 FFMA in the loop, found 8"));
  EXPECT_TRUE(contains(findings.problems[1], "expected 9 FFMA in the loop, found 8"));
  EXPECT_TRUE(contains(findings.problems[2], "expected at least 1 FF in the loop, found 0"));
}

}  // namespace
}  // namespace assay

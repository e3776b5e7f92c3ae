// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "harness/assembler.hpp"
#include "harness/error.hpp"
#include "harness/instruction_ptx.hpp"
#include "harness/ptx_text.hpp"
#include "harness/sass_check.hpp"

namespace assay {
namespace {

InstructionRow fma_row() {
  return {.name = "f32",
          .ptx = "fma.rn.f32 <d>, <d>, <a>, <b>;",
          .chain = {"d", "f32", "f32"},
          .inputs = {{"a", "f32", "f32"}, {"b", "f32", "f32"}},
          .step = [](double d, double a, double b, int) { return d * a + b; },
          .ops = 32,
          .sass =
              [](Target) {
                return std::vector<SassRule>{{"FFMA", 1, 1}};
              }};
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

SassFindings findings_of(const KernelUse& use, Target target) {
  const Assembled assembled = assemble(use.ptx, target);
  return check_sass({.elf = assembled.cubin, .symbol = use.kernel, .target = target, .use = use});
}

TEST(InstructionPtx, HoldsACopyPerChainAndUnroll) {
  const std::string text =
      instruction_ptx(fma_row(), {.warps = 4, .chains = 3, .unroll = 5}, "k", Target::sm_90a);
  EXPECT_EQ(count(text, "fma.rn.f32"), 15);
  EXPECT_EQ(count(text, "fma.rn.f32 %d2_0, %d2_0, %a_0, %b_0;"), 5);
  EXPECT_EQ(count(text, ".maxntid 128"), 1);
  EXPECT_EQ(count(text, ".target sm_90a"), 1);
}

TEST(InstructionPtx, NamesTuplesAndTheirParts) {
  InstructionRow row = fma_row();
  row.chain.count = 2;
  row.ptx = "use {<d>}, <d.1>;";
  const std::string text =
      instruction_ptx(row, {.warps = 1, .chains = 1, .unroll = 1}, "k", Target::sm_90a);
  EXPECT_EQ(count(text, "use {%d0_0, %d0_1}, %d0_1;"), 1);
}

TEST(InstructionPtx, UndeclaredOperandIsAnError) {
  InstructionRow row = fma_row();
  row.ptx = "fma.rn.f32 <d>, <d>, <a>, <c>;";
  try {
    instruction_ptx(row, {.warps = 1, .chains = 1, .unroll = 1}, "k", Target::sm_90a);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("<c>"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'f32'"), std::string::npos) << error.what();
  }
  row.ptx = "fma.rn.f32 <d>, <d>, <a>, <b.1>;";  // b has one register
  EXPECT_THROW(instruction_ptx(row, {.warps = 1, .chains = 1, .unroll = 1}, "k", Target::sm_90a),
               Error);
}

TEST(InstructionPtx, EntangledInputsAreMadeAnewForEachCopy) {
  const std::string text = instruction_ptx(
      fma_row(), {.warps = 1, .chains = 2, .unroll = 2, .entangle = true}, "k", Target::sm_90a);
  EXPECT_EQ(count(text, "xor.b32 %t_a_0, %a_0, %mix;"), 4);
  EXPECT_EQ(count(text, "fma.rn.f32 %d1_0, %d1_0, %t_a_0, %t_b_0;"), 2);
}

TEST(RowKernel, ScalesItsRulesByTheCopies) {
  const KernelUse use =
      row_kernel(fma_row(), {.warps = 1, .chains = 2, .unroll = 8}, "k", Target::sm_90a);
  ASSERT_EQ(use.sass.size(), 1u);
  EXPECT_EQ(use.sass[0].at_least, 16);
  EXPECT_EQ(use.sass[0].at_most, 16);
  EXPECT_FALSE(use.emulated);
}

TEST(RowKernel, IsTheMachineCodeItAsksForOnEveryTarget) {
  for (const Target target : kGpuTargets) {
    // Long enough a loop for ptxas to leave it by a CALL on sm_89.
    const KernelUse use =
        row_kernel(fma_row(), {.warps = 4, .chains = 8, .unroll = 64}, "k", target);
    const SassFindings findings = findings_of(use, target);
    EXPECT_TRUE(findings.verified())
        << name(target) << ": " << (findings.problems.empty() ? "" : findings.problems.front());
  }
}

TEST(PtxText, ShortLoopsAreNotUnrolled) {
  for (const Target target : kGpuTargets) {
    const KernelUse use =
        row_kernel(fma_row(), {.warps = 1, .chains = 1, .unroll = 2}, "k", target);
    const SassFindings findings = findings_of(use, target);
    EXPECT_TRUE(findings.verified())
        << name(target) << ": " << (findings.problems.empty() ? "" : findings.problems.front());
  }
}

TEST(PtxText, ReplaceAllDoesNotReplaceItsOwnOutput) {
  EXPECT_EQ(replace_all("<d> <d>", "<d>", "<d><d>"), "<d><d> <d><d>");
  EXPECT_EQ(replace_all("abc", "x", "y"), "abc");
}

TEST(InstructionProbe, HasACasePerRowAndAnotherUnderLastingLoad) {
  const Probe probe =
      instruction_probe({.name = "p", .question = "?", .run = {}}, {fma_row()}, true);
  ASSERT_EQ(probe.cases.size(), 2u);
  EXPECT_EQ(probe.cases[0].name, "f32");
  EXPECT_EQ(probe.cases[0].text("state"), "burst");
  EXPECT_EQ(probe.cases[1].name, "f32/sustained");
  EXPECT_EQ(probe.cases[1].text("state"), "sustained");
  const std::vector<KernelUse> uses = probe.kernels(probe.cases[0], Target::sm_120a);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].kernel, "throughput");
  EXPECT_EQ(uses[1].kernel, "latency");
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/row_probe.hpp"

#include <gtest/gtest.h>

#include <string>

#include "harness/code/assembler.hpp"
#include "harness/code/sass_check.hpp"
#include "harness/error.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/instruction/row_ptx.hpp"

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

std::string text_of(const InstructionRow& row, const KernelShape& shape) {
  return instruction_ptx({&row, 1}, shape, "k", Target::sm_90a);
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
  const std::string text = text_of(fma_row(), {.warps = 4, .chains = 3, .unroll = 5});
  EXPECT_EQ(count(text, "fma.rn.f32"), 15);
  EXPECT_EQ(count(text, "fma.rn.f32 %d2_0, %d2_0, %a_0, %b_0;"), 5);
  EXPECT_EQ(count(text, ".maxntid 128"), 1);
  EXPECT_EQ(count(text, ".target sm_90a"), 1);
}

TEST(InstructionPtx, NamesTuplesAndTheirParts) {
  InstructionRow row = fma_row();
  row.chain.count = 2;
  row.ptx = "use {<d>}, <d.1>;";
  const std::string text = text_of(row, {.warps = 1, .chains = 1, .unroll = 1});
  EXPECT_EQ(count(text, "use {%d0_0, %d0_1}, %d0_1;"), 1);
}

TEST(InstructionPtx, UndeclaredOperandIsAnError) {
  InstructionRow row = fma_row();
  row.ptx = "fma.rn.f32 <d>, <d>, <a>, <c>;";
  try {
    text_of(row, {.warps = 1, .chains = 1, .unroll = 1});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("<c>"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'f32'"), std::string::npos) << error.what();
  }
  row.ptx = "fma.rn.f32 <d>, <d>, <a>, <b.1>;";  // b has one register
  EXPECT_THROW(text_of(row, {.warps = 1, .chains = 1, .unroll = 1}), Error);
}

TEST(InstructionPtx, EntangledInputsAreMadeAnewForEachCopy) {
  const std::string text =
      text_of(fma_row(), {.warps = 1, .chains = 2, .unroll = 2, .entangle = true});
  EXPECT_EQ(count(text, "xor.b32 %t_a_0, %a_0, %mix;"), 4);
  EXPECT_EQ(count(text, "fma.rn.f32 %d1_0, %d1_0, %t_a_0, %t_b_0;"), 2);
}

TEST(InstructionPtx, UniformOperandsAreMadeOfAParameterInsteadOfLoaded) {
  InstructionRow row = fma_row();
  row.inputs[0].uniform = true;
  const std::string text = text_of(row, {.warps = 1, .chains = 1, .unroll = 1});
  EXPECT_EQ(count(text, "xor.b32 %a_0, %zero, 0x3f000000;"), 1);  // the row's a, 0.5
  EXPECT_EQ(count(text, "ld.global.b32"), 2);                     // the chain and b
}

TEST(InstructionPtx, PredicatesAreLoadedAndStoredAsWords) {
  InstructionRow row = fma_row();
  row.chain.reg = "pred";
  row.chain.element = "u32";
  row.ptx = "setp.lt.xor.f32 <d>, <a>, <b>, <d>;";
  const std::string text = text_of(row, {.warps = 1, .chains = 1, .unroll = 1});
  EXPECT_EQ(count(text, "setp.ne.b32 %d0_0, %mix, 0;"), 1);
  EXPECT_EQ(count(text, "selp.b32 %mix, 1, 0, %d0_0;"), 1);
}

TEST(RowKernel, UniformChainsTakeTheUniformPath) {
  InstructionRow row = fma_row();
  row.ptx = "mad.lo.u32 <d>, <d>, <a>, <b>;";
  for (Operand* operand : {&row.chain, &row.inputs[0], &row.inputs[1]}) {
    operand->reg = "b32";
    operand->element = "u32";
    operand->uniform = true;
  }
  row.sass = [](Target) { return std::vector<SassRule>{{"UIMAD", 1, 1}}; };
  for (const Target target : targets_with(Feature::uniform_arithmetic)) {
    const KernelUse use = row_kernel(row, {.warps = 4, .chains = 2, .unroll = 8}, "k", target);
    const SassFindings findings = findings_of(use, target);
    EXPECT_TRUE(findings.verified()) << name(target) << ": " << findings.problems.front();
  }
}

TEST(InstructionProbe, IndependentRowsHaveNoLatency) {
  InstructionRow row = fma_row();
  row.independent = true;
  const Probe probe = instruction_probe({.name = "q", .question = "?", .run = {}}, {row});
  for (const KernelUse& use : probe.kernels(probe.cases[0], Target::sm_90a))
    EXPECT_NE(use.kernel, "latency");
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
  for (const Target target : all_gpu_targets()) {
    // Long enough a loop for ptxas to leave it by a CALL on sm_89.
    const KernelUse use =
        row_kernel(fma_row(), {.warps = 4, .chains = 8, .unroll = 64}, "k", target);
    const SassFindings findings = findings_of(use, target);
    EXPECT_TRUE(findings.verified())
        << name(target) << ": " << (findings.problems.empty() ? "" : findings.problems.front());
  }
}

TEST(PtxText, ShortLoopsAreNotUnrolled) {
  for (const Target target : all_gpu_targets()) {
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
  ASSERT_EQ(uses.size(), 4u);  // the row's four chains, one and two of them, and one warp's one
  EXPECT_EQ(uses[0].kernel, "throughput");
  EXPECT_EQ(uses[1].kernel, "chains1");
  EXPECT_EQ(uses[2].kernel, "chains2");
  EXPECT_EQ(uses[3].kernel, "latency");
}

TEST(RowKernel, OfTwoRowsHasCopiesOfBothInTurn) {
  InstructionRow add = fma_row();
  add.ptx = "add.rn.f32 <d>, <d>, <a>;";
  add.inputs.pop_back();
  add.sass = [](Target) { return std::vector<SassRule>{{"FADD", 1, 1}}; };
  const InstructionRow both[] = {fma_row(), add};
  for (const Target target : all_gpu_targets()) {
    const KernelUse use = row_kernel(both, {.warps = 4, .chains = 2, .unroll = 8}, "k", target);
    const SassFindings findings = findings_of(use, target);
    EXPECT_TRUE(findings.verified()) << name(target) << ": " << findings.problems.front();
    EXPECT_EQ(findings.loop.at("FFMA"), 16);
    EXPECT_EQ(findings.loop.at("FADD"), 16);
  }
}

TEST(RowKernel, OfTwoRowsAddsUpTheirRules) {
  const InstructionRow both[] = {fma_row(), fma_row()};
  const KernelUse use =
      row_kernel(both, {.warps = 1, .chains = 2, .unroll = 8}, "k", Target::sm_90a);
  ASSERT_EQ(use.sass.size(), 1u);
  EXPECT_EQ(use.sass[0].at_least, 32);
  EXPECT_TRUE(findings_of(use, Target::sm_90a).verified());
}

}  // namespace
}  // namespace assay

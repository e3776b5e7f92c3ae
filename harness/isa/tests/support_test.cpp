// SPDX-License-Identifier: Apache-2.0
// The rule that makes opcodes a verdict, and the assembler's remarks.
#include "harness/isa/support.hpp"

#include <gtest/gtest.h>

#include "harness/isa/assembly.hpp"

namespace assay::isa {
namespace {

Verdict verdict_of(const OpcodeCount& opcodes, const std::vector<std::string>& calls = {}) {
  return judge({.accepted = true, .opcodes = opcodes, .calls = calls});
}

Support support(const OpcodeCount& opcodes, const std::vector<std::string>& calls = {}) {
  return verdict_of(opcodes, calls).support;
}

TEST(IsaSupport, OneInstructionIsNative) {
  EXPECT_EQ(support({{"HMMA.16816.F32", 1}}), Support::native);
  EXPECT_EQ(support({{"IADD3", 1}}), Support::native);
  EXPECT_EQ(support({{"FADD", 1}, {"MOV", 3}, {"R2UR", 2}}), Support::native);
}

TEST(IsaSupport, NothingAtAllIsNative) {
  const Verdict verdict = verdict_of({});
  EXPECT_EQ(verdict.support, Support::native);
  EXPECT_EQ(describe(verdict), "nothing");
}

TEST(IsaSupport, AMoveIsNativeWhenNothingElseIsThere) {
  const Verdict verdict = verdict_of({{"LDC.64", 1}});
  EXPECT_EQ(verdict.support, Support::native);
  EXPECT_EQ(verdict.opcodes, (OpcodeCount{{"LDC.64", 1}}));
}

TEST(IsaSupport, FixUpsOfSubnormalsDoNotCount) {
  const Verdict verdict = verdict_of({{"MUFU.EX2", 1}, {"FMUL", 2}, {"FSETP.GEU.AND", 1}});
  EXPECT_EQ(verdict.support, Support::native);
  EXPECT_EQ(verdict.count, 1);
  EXPECT_EQ(describe(verdict), "1 MUFU.EX2, 2 FMUL, 1 FSETP.GEU.AND");
}

TEST(IsaSupport, SeveralOfOneKindAreASplit) {
  const Verdict dmma = verdict_of({{"DMMA.8x8x4", 8}});
  EXPECT_EQ(dmma.support, Support::split);
  EXPECT_EQ(dmma.count, 8);
  EXPECT_EQ(support({{"IADD3", 1}, {"IADD3.X", 1}}), Support::split);
  EXPECT_EQ(support({{"MUFU.TANH.F16", 2}, {"PRMT", 5}}), Support::split);
}

TEST(IsaSupport, DifferentInstructionsAreAnEmulation) {
  const Verdict fp8 =
      verdict_of({{"F2FP.F16.E4M3.UNPACK_B", 12}, {"HMMA.16816.F32", 2}, {"FADD", 4}});
  EXPECT_EQ(fp8.support, Support::emulated);
  EXPECT_EQ(fp8.count, 18);
  EXPECT_EQ(support({{"LDS", 1}, {"ATOMS.CAS", 1}, {"FADD", 1}}), Support::emulated);
  EXPECT_EQ(support({{"MUFU.RCP", 1}, {"FFMA", 8}}), Support::emulated);
}

TEST(IsaSupport, ACallIsAnEmulationUnlessItStandsAside) {
  EXPECT_EQ(support({{"CALL.ABS.NOINC", 1}}, {"__cuda_sm_9x_mma_sub_byte_internal_m16n8k64_s4_s4"}),
            Support::emulated);
  EXPECT_EQ(support({{"UTCBAR", 1}, {"CALL.ABS.NOINC", 1}},
                    {"__cuda_sm10x_tcgen05_guardrail_trap_access_out_of_physical_bounds"}),
            Support::native);
}

Verdict verdict_between(const Function& frame, const Function& kernel) {
  return judge(difference(frame, kernel));
}

TEST(IsaSupport, OnlyWhatAKernelHasMoreCounts) {
  const auto kernel = [](std::vector<std::string> opcodes) {
    Function function;
    for (const std::string& opcode : opcodes) {
      function.code.push_back({.opcode = opcode});
      function.code.back().address = static_cast<std::uint32_t>(16 * function.code.size() - 16);
    }
    return function;
  };
  Function emulated = kernel({"LDG.E", "CALL.REL.NOINC", "STG.E", "EXIT", "FFMA", "RET.REL.NODEC"});
  emulated.code[1].callee = "__cuda_sm20_div_rn_f64_full";
  emulated.routines = {{64, "__cuda_sm20_div_rn_f64_full"}};  // its body is no part of the kernel
  const Verdict verdict = verdict_between(kernel({"LDG.E", "STG.E", "EXIT"}), emulated);
  EXPECT_EQ(verdict.support, Support::emulated);
  EXPECT_EQ(verdict.opcodes, (OpcodeCount{{"CALL.REL.NOINC", 1}}));

  Function padded = kernel({"LDG.E", "LDS", "HFMA2", "IMAD.X", "STG.E", "EXIT"});
  padded.code[1].predicate = "@!PT";
  padded.code[2].operands = "R5, -RZ, RZ, 0, 0";
  EXPECT_EQ(verdict_between(kernel({"LDG.E", "IADD3.X", "STG.E", "EXIT"}), padded).opcodes,
            OpcodeCount{});
}

TEST(IsaSupport, ReadsTheAssemblersRemarks) {
  const auto said = remarks(
      "ptxas application ptx input, line 189; error   : Unknown modifier '.bar'\n"
      "ptxas application ptx input, line 190; fatal   : Parsing error near ',': syntax error\n"
      "ptxas application ptx input, line 191; warning : Advisory: slow\n"
      "error   : Entry function 'form_3' uses too much shared data (0x10000 bytes, 0xc000 "
      "max)\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n"
      "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (<input>)\n");
  ASSERT_EQ(said.size(), 4U);
  EXPECT_EQ(said[0].line, 189);
  EXPECT_TRUE(said[0].error);
  EXPECT_EQ(said[0].text, "Unknown modifier '.bar'");
  EXPECT_TRUE(said[1].error);
  EXPECT_FALSE(said[2].error);
  EXPECT_EQ(said[3].line, 0);
}

// What came out does not tell whether the form was needed, dropped or unreadable.
TEST(Support, Unknown) {
  const Shape fence{.leaves_result = false};
  const Verdict dropped = judge({.accepted = true}, fence);
  EXPECT_EQ(dropped.support, Support::unknown);
  EXPECT_NE(dropped.words.find("nothing is left of it"), std::string::npos);
  EXPECT_EQ(judge({.accepted = true}).support, Support::native);  // a move
  EXPECT_EQ(judge({.accepted = true, .opcodes = {{"MEMBAR.ALL.GPU", 1}}}, fence).support,
            Support::native);
  EXPECT_EQ(judge({.accepted = true, .opcodes = {{"IADD3", 1}}, .readable = false}).support,
            Support::unknown);
  EXPECT_EQ(judge({.words = "Pragma 'enable_smem_spilling' is not allowed for per-function "
                            "compilation modes"})
                .support,
            Support::unknown);
  EXPECT_EQ(judge({.words = "Feature '.x' not supported"}).support, Support::rejected);
}

TEST(Support, EachOfSeveralStatementsHasItsInstruction) {
  const Evidence sum{.accepted = true, .opcodes = {{"IADD3", 1}, {"IMAD", 1}}};
  EXPECT_EQ(judge(sum).support, Support::emulated);
  EXPECT_EQ(judge(sum, {.statements = 2}).support, Support::native);
  const Evidence more{.accepted = true, .opcodes = {{"IADD3", 8}, {"LDS", 1}, {"IMAD", 2}}};
  EXPECT_EQ(judge(more, {.statements = 2}).support, Support::emulated);
  const Evidence calls{.accepted = true, .opcodes = {{"IADD3", 1}}, .calls = {"__cuda_sm_9x_x"}};
  EXPECT_EQ(judge(calls, {.statements = 2}).support, Support::emulated);
}

// fence.proxy.alias: which of two fences is executed depends on an address.
TEST(Support, AFenceIsItsMembar) {
  const Verdict verdict = judge({.accepted = true,
                                 .opcodes = {{"ISETP.EQ.U32.AND", 1},
                                             {"MEMBAR.SC.GPU", 1},
                                             {"MEMBAR.SC.SYS", 1},
                                             {"BRA", 2},
                                             {"CCTL.IVALL", 1}}});
  EXPECT_EQ(verdict.support, Support::split);
  EXPECT_EQ(verdict.count, 2);
}

}  // namespace
}  // namespace assay::isa

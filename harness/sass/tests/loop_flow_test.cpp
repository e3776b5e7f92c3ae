// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/loop_flow.hpp"

#include <gtest/gtest.h>

#include "harness/code/assembler.hpp"
#include "harness/sass/analysis.hpp"
#include "harness/sass/register_reads.hpp"

namespace assay::sass {
namespace {

Function function_of(std::vector<Instruction> code) {
  Function function{.name = "f", .arch = "sm_90a", .cubin_sha256 = {}, .code = {}, .routines = {}};
  for (std::size_t i = 0; i < code.size(); ++i)
    code[i].address = static_cast<std::uint32_t>(16 * i);
  function.code = std::move(code);
  return function;
}

Instruction branch(const char* predicate, std::uint32_t to) {
  return {.predicate = predicate, .opcode = "BRA", .operands = "0x", .target = 16 * to};
}

// A loop 0..7 with an `if` around 2, an `else` 5 to 3..4, and what follows both.
TEST(LoopFlow, WhatEveryIterationExecutes) {
  const Function function = function_of({{.opcode = "IADD3"},  // 0
                                         branch("@P0", 3),
                                         {.opcode = "FADD"},  // 2, passed over
                                         branch("@P1", 5),
                                         branch("", 6),       // 4, the way of @!P1
                                         {.opcode = "FMUL"},  // 5, that of @P1
                                         {.opcode = "FFMA"},
                                         branch("@P2", 0),
                                         {.opcode = "EXIT"}});
  const auto loops = find_loops(function);
  ASSERT_EQ(loops.size(), 1u);
  const LoopFlow flow(function, loops[0], loops[0].body);
  EXPECT_EQ(flow.every_iteration(), (std::vector<std::size_t>{0, 1, 3, 6, 7}));
}

// The slow path falls through to a call; the fast one is branched to.
TEST(LoopFlow, TheWayAroundACallIsTheLikelyOne) {
  const Function function =
      function_of({{.opcode = "MUFU.RCP"},  // 0
                   branch("@P0", 4),
                   {.opcode = "CALL.REL.NOINC", .operands = "0x90", .target = 0x90},
                   branch("", 5),
                   {.opcode = "FFMA"},  // 4
                   {.opcode = "FADD"},
                   branch("@P1", 0),
                   {.opcode = "EXIT"},
                   {.opcode = "NOP"},
                   {.opcode = "RET.REL.NODEC"}});
  const auto paths = loop_paths(function, reaching_warps(function, 1));
  ASSERT_EQ(paths.size(), 1u);
  const LoopPart& part = paths[0].parts.at(0);
  EXPECT_EQ(part.path, (std::vector<std::size_t>{0, 1, 4, 5, 6}));
  EXPECT_EQ(part.always, (std::vector<std::size_t>{0, 1, 5, 6}));
  EXPECT_EQ(part.calls_avoided, 1);
  EXPECT_EQ(assumption(paths[0]), "the call behind 1 branch is not made");
}

constexpr const char* kDivisions = R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry divide(.param .u64 p_out, .param .u32 p_n) {
  .reg .pred %more;
  .reg .b32 %n;
  .reg .f32 %x, %y;
  .reg .b64 %out;
  ld.param.u64 %out, [p_out];
  ld.param.u32 %n, [p_n];
  ld.global.f32 %x, [%out];
  ld.global.f32 %y, [%out+4];
.pragma "nounroll";
again:
.pragma "nounroll";
  div.rn.f32 %x, %y, %x;
  sqrt.rn.f32 %y, %x;
  sub.u32 %n, %n, 1;
  setp.ne.u32 %more, %n, 0;
  @%more bra again;
  st.global.f32 [%out], %x;
  ret;
}
)";

TEST(LoopFlow, SlowPathsOfDivisionAndSquareRootAreNotCounted) {
  const Assembled assembled = assemble(kDivisions, Target::sm_90a);
  const auto function = disassemble(assembled.cubin, "divide");
  const KernelAnalysis kernel = analyse(function, CostTable::newest("sm_90a"));
  const LoopAnalysis& loop = kernel.hot.at(0);
  const LoopPart& part = loop.shape.parts.at(0);
  EXPECT_EQ(part.calls_avoided, 2);
  EXPECT_EQ(part.calls, 0);
  for (const std::size_t i : part.path) EXPECT_FALSE(function->code[i].is("CALL"));
  EXPECT_GT(loop.shape.off_path, 0u);
  EXPECT_LT(part.always.size(), part.path.size());
  EXPECT_LE(loop.least.cycles, loop.predicted());
  EXPECT_GT(loop.least.cycles, 0);
}

TEST(RegisterReads, BanksReuseAndWidth) {
  using Reads = std::array<int, 2>;
  const auto reads = [](const char* opcode, const char* operands, const char* before = nullptr) {
    const Instruction earlier{.opcode = "FFMA", .operands = before ? before : ""};
    return register_reads({.opcode = opcode, .operands = operands}, before ? &earlier : nullptr);
  };
  EXPECT_EQ(reads("FFMA", "R0, R1, R2, R4"), (Reads{2, 1}));
  EXPECT_EQ(reads("FFMA", "R0, R2, R2, R2"), (Reads{1, 0}));  // named thrice, read once
  EXPECT_EQ(reads("FFMA", "R0, -R1, |R3|, RZ"), (Reads{0, 2}));
  EXPECT_EQ(reads("FFMA", "R0, R1, R2, R4", "R8, R1.reuse, R2, R6"), (Reads{2, 0}));
  EXPECT_EQ(reads("FFMA", "R0, R2, R1, R4", "R8, R1.reuse, R2, R6"), (Reads{2, 1}));
  EXPECT_EQ(reads("DFMA", "R0, R2, R4, R6"), (Reads{3, 3}));
  EXPECT_EQ(reads("IMAD.WIDE.U32", "R0, R2, R4, R6"), (Reads{3, 1}));
  EXPECT_EQ(reads("LDG.E", "R0, desc[UR6][R2.64+0x10]"), (Reads{1, 1}));
  EXPECT_EQ(reads("STG.E.128", "desc[UR6][R2.64], R4"), (Reads{3, 3}));
  EXPECT_EQ(reads("FSETP.GT.AND", "P0, PT, R3, 4, PT"), (Reads{0, 1}));
}

}  // namespace
}  // namespace assay::sass

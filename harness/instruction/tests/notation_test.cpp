// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/notation.hpp"

#include <gtest/gtest.h>

namespace assay::notation {
namespace {

using Texts = std::vector<std::string>;

TEST(Notation, AlternativesMultiplyInTheOrderWritten) {
  EXPECT_EQ(expand("add(|.sat).(s32|u32) %r0;"),
            (Texts{"add.s32 %r0;", "add.u32 %r0;", "add.sat.s32 %r0;", "add.sat.u32 %r0;"}));
  EXPECT_EQ(expand("a(b|c(d|e))"), (Texts{"ab", "acd", "ace"}));
}

TEST(Notation, ParenthesesWithoutAlternativesStay) {
  EXPECT_EQ(expand("mov.b32 %r0, (1+2);"), Texts{"mov.b32 %r0, (1+2);"});
  EXPECT_EQ(expand("setp.eq.s32 %p0|%p1, %r0, (3);"), Texts{"setp.eq.s32 %p0|%p1, %r0, (3);"});
  EXPECT_EQ(expand("an (open"), Texts{"an (open"});
}

TEST(Notation, RunsOfRegisters) {
  EXPECT_EQ(expand("{%r[4:6]}, {%fd[0:1]}, [%r0]"), Texts{"{%r4, %r5}, {%fd0}, [%r0]"});
}

TEST(Notation, MnemonicIsTheFirstInstructions) {
  EXPECT_EQ(mnemonic(" add.s32 %r0, %r1, %r2; sub.s32 %r0, %r1, %r2;"), "add.s32");
  EXPECT_EQ(mnemonic("@%p0 bra L;"), "bra");
  EXPECT_EQ(mnemonic(".reg .b32 a; .reg .b32 b; cvt.u32.u32 a, b;"), "cvt.u32.u32");
  EXPECT_EQ(mnemonic("exit;"), "exit");
}

TEST(Notation, RowsAreNamedByMnemonicAndNote) {
  const auto rows =
      rows_of("\n# one\n// two\n  ld.b32 %r0, [%gmem]; # plain\n\n  neg.(f32|s32) %r0, %r1;\n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "ld.b32 plain");
  EXPECT_EQ(rows[0].ptx, "ld.b32 %r0, [%gmem];");
  EXPECT_EQ(rows[2].name, "neg.s32");
}

}  // namespace
}  // namespace assay::notation

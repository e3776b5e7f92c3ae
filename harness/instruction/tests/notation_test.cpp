// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/notation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/error.hpp"

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

TEST(Notation, TheFirstParenthesesWithAlternativesOfTheirOwn) {
  EXPECT_EQ(expand("(a (b|c)"), (Texts{"(a b", "(a c"}));
  EXPECT_EQ(expand("(a|b(c)"), Texts{"(a|b(c)"});
  EXPECT_EQ(expand("(x(1|2)|y)"), (Texts{"x1", "x2", "y"}));
  EXPECT_EQ(expand(")(|a)|("), (Texts{")|(", ")a|("}));
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// A fuzzer found the first kind: 142 characters that took minutes and would have taken all memory.
TEST(Notation, WhatStandsForTooMuchIsRefusedAtOnce) {
  for (const std::string& line :
       {repeated("(|a)", 36), repeated("(a|b)", 200'000), repeated("%r[0:9999]", 3000),
        "(" + repeated("x|", 200'000) + ")"})
    EXPECT_THROW(expand(line), Error) << line.substr(0, 40);
  EXPECT_THROW(rows_of(repeated(repeated("(|a)", 12) + "\n", 5)), Error);  // all lines together
  EXPECT_EQ(expand(repeated("(|a)", 12)).size(), 4096U);
  EXPECT_EQ(expand(repeated("(", 500'000)).size(), 1U);
}

TEST(Notation, RunsOfRegisters) {
  EXPECT_EQ(expand("{%r[4:6]}, {%fd[0:1]}, [%r0]"), Texts{"{%r4, %r5}, {%fd0}, [%r0]"});
}

TEST(Notation, MnemonicIsTheFirstInstructions) {
  EXPECT_EQ(mnemonic(" add.s32 %r0, %r1, %r2; sub.s32 %r0, %r1, %r2;"), "add.s32");
  EXPECT_EQ(mnemonic("@%p0 bra L;"), "bra");
  EXPECT_EQ(mnemonic(".reg .b32 a; .reg .b32 b; cvt.u32.u32 a, b;"), "cvt.u32.u32");
  EXPECT_EQ(mnemonic("exit;"), "exit");
  EXPECT_EQ(mnemonic("{ .reg .u32 t; add.u32 t, %r1, %r2; }"), "add.u32");
  EXPECT_EQ(mnemonic("{"), "{");
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

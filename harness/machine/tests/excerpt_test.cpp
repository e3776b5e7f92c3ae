// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/excerpt.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Excerpt, ShortTextsStayAsTheyAre) {
  EXPECT_EQ(excerpt(""), "");
  EXPECT_EQ(excerpt("memory/hbm/copy"), "memory/hbm/copy");
  EXPECT_EQ(excerpt("µs"), "µs");
}

TEST(Excerpt, LongTextsAreCutInTheMiddle) {
  const std::string text = "begin" + std::string(50'000, 'a') + "end";
  const std::string cut = excerpt(text);
  EXPECT_LE(cut.size(), 160u);
  EXPECT_TRUE(cut.starts_with("beginaaa"));
  EXPECT_TRUE(cut.ends_with("aaaend"));
  EXPECT_NE(cut.find("a...a"), std::string::npos);
  EXPECT_EQ(excerpt(text, text.size()), text);
}

TEST(Excerpt, CutsBetweenCharacters) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'a');
    for (int i = 0; i < 100; ++i) text += "𝄞";  // four bytes
    const std::string cut = excerpt(text);
    const std::size_t gap = cut.find("...");
    EXPECT_EQ((gap - shift) % 4, 0u);
    EXPECT_EQ((cut.size() - gap - 3) % 4, 0u);
  }
}

TEST(Excerpt, NothingMovesTheCursor) {
  EXPECT_EQ(excerpt("a\nb\x1b[31m\x7f"), "a?b?[31m?");
  EXPECT_EQ(excerpt("\xc2\x9b[31m\xc2\xa0"), "??[31m\xc2\xa0");
}

TEST(Excerpt, IsUtf8) {
  EXPECT_EQ(excerpt("a\xff\xfe b\xc2"), "a?? b?");
  EXPECT_EQ(excerpt("\xc0\xaf\xe2\x82µ"), "????µ");
  EXPECT_EQ(excerpt("\xe0\x80\xaf\xed\xa0\x80"), "??????");
  EXPECT_EQ(excerpt("\xf0\x80\x80\xaf\xf4\x90\x80\x80"), "????????");
  EXPECT_EQ(excerpt("\xe0\xa0\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf"),
            "\xe0\xa0\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf");
}

TEST(ShellWord, IsOneWord) {
  EXPECT_EQ(shell_word("out/2026-01-01T120000-quick"), "out/2026-01-01T120000-quick");
  EXPECT_EQ(shell_word("my run"), "'my run'");
  EXPECT_EQ(shell_word("it's $1"), "'it'\\''s $1'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Printable, KeepsLinesAndLength) {
  EXPECT_EQ(printable("a\n\tb\x1b[31m\r\xff"), "a\n\tb?[31m??");
  EXPECT_EQ(printable(std::string(1000, 'a')), std::string(1000, 'a'));
}

}  // namespace
}  // namespace assay

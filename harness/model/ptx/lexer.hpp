// SPDX-License-Identifier: Apache-2.0
// Tokens of PTX text. PTX ISA 9.0, "Lexical Elements".
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::model {

struct Token {
  enum class Kind : std::uint8_t { word, number, string, punctuation, end };
  Kind kind = Kind::end;
  std::string_view text;
  int line = 0;
  std::uint64_t value = 0;  // of a number: its bits
  bool floating = false;    // 0f..., 0d... and decimals with a point
  bool space_before = true;
};

// Words hold their dots and colons when they begin with a letter or a dot: "ld.global.L2::128B.u32"
// is one token, and so is ".reg". Throws Violation("ptx.syntax", ...).
std::vector<Token> tokenize_ptx(std::string_view text);

}  // namespace assay::model

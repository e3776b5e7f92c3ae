// SPDX-License-Identifier: Apache-2.0
#include "harness/model/ptx/lexer.hpp"

#include <bit>
#include <cctype>
#include <cstdlib>

#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

constexpr std::size_t kMostTokens = 4'000'000;  // some 600 MB as instructions

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool starts_word(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%' || c == '.'; }
bool in_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

// A number at the start of `text`; its length in `length`, 0 if it is none.
Token number(std::string_view text, std::size_t& length) {
  Token token{.kind = Token::Kind::number};
  const std::string copy(text.substr(0, 40));
  if (copy.size() > 2 && copy[0] == '0' && std::string_view("fFdD").find(copy[1]) != copy.npos) {
    const bool single = copy[1] == 'f' || copy[1] == 'F';
    const std::string digits = copy.substr(2, single ? 8 : 16);
    const bool whole = digits.size() == (single ? 8 : 16) &&
                       digits.find_first_not_of("0123456789abcdefABCDEF") == digits.npos;
    length = whole ? 2 + digits.size() : 0;
    if (!whole) return token;
    token.value = std::strtoull(digits.c_str(), nullptr, 16);
    token.floating = true;
    // Kept as binary64, like every floating-point immediate here.
    if (single)
      token.value = std::bit_cast<std::uint64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(token.value))));
    return token;
  }
  std::size_t digits = 0;
  while (digits < copy.size() && is_digit(copy[digits])) ++digits;
  char* end = nullptr;
  if (digits < copy.size() && copy[digits] == '.' && digits + 1 < copy.size() &&
      is_digit(copy[digits + 1])) {
    token.value = std::bit_cast<std::uint64_t>(std::strtod(copy.c_str(), &end));
    token.floating = true;
  } else if (copy.size() > 2 && copy[0] == '0' && (copy[1] == 'b' || copy[1] == 'B')) {
    token.value = std::strtoull(copy.c_str() + 2, &end, 2);
  } else {
    token.value = std::strtoull(copy.c_str(), &end, 0);
  }
  length = static_cast<std::size_t>(end - copy.c_str());
  if (length < text.size() && text[length] == 'U') ++length;
  return token;
}

}  // namespace

std::vector<Token> tokenize_ptx(std::string_view text) {
  std::vector<Token> tokens;
  int line = 1;
  bool space = true;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\0') {
      ++at;
      space = true;
      continue;
    }
    if (text.substr(at, 2) == "//") {
      while (at < text.size() && text[at] != '\n') ++at;
      space = true;
      continue;
    }
    if (text.substr(at, 2) == "/*") {
      at += 2;  // "/*/" is no whole comment
      while (at < text.size() && text.substr(at, 2) != "*/") line += text[at++] == '\n';
      at += 2;
      space = true;
      continue;
    }
    Token token;
    std::size_t length = 1;
    if (c == '"') {
      while (at + length < text.size() && text[at + length] != '"') ++length;
      if (at + length >= text.size())
        throw Violation("ptx.syntax", "line " + std::to_string(line) + ": a string has no end");
      token.kind = Token::Kind::string;
      token.text = text.substr(at + 1, length - 1);
      ++length;
    } else if (is_digit(c)) {
      token = number(text.substr(at), length);
      if (length == 0)
        throw Violation("ptx.syntax", "line " + std::to_string(line) +
                                          ": 0f has 8 hexadecimal digits after it, 0d has 16");
      token.text = text.substr(at, length);
    } else if (starts_word(c) && at + 1 < text.size() &&
               (in_name(text[at + 1]) || is_letter(c) || c == '_')) {
      // After %, $ and letters a name; dots and "::" go on with it unless it is a register's
      // component or a label.
      while (at + length < text.size()) {
        const char n = text[at + length];
        const bool dotted =
            n == '.' && at + length + 1 < text.size() && in_name(text[at + length + 1]);
        if (in_name(n) || dotted) {
          ++length;
        } else if (text.substr(at + length, 2) == "::") {
          length += 2;
        } else {
          break;
        }
      }
      token.kind = Token::Kind::word;
      token.text = text.substr(at, length);
    } else {
      token.kind = Token::Kind::punctuation;
      token.text = text.substr(at, 1);
    }
    if (tokens.size() == kMostTokens)
      throw Violation("ptx.syntax", "line " + std::to_string(line) + ": the model reads at most " +
                                        std::to_string(kMostTokens) + " words and signs");
    token.line = line;
    token.space_before = space;
    space = false;
    tokens.push_back(token);
    at += length;
  }
  tokens.push_back({.kind = Token::Kind::end, .text = "end of text", .line = line});
  return tokens;
}

}  // namespace assay::model

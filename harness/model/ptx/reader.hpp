// SPDX-License-Identifier: Apache-2.0
// The tokens of PTX text, taken one after another.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model/ptx/lexer.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {

class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : tokens_(tokenize_ptx(text)) {}

 protected:
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Violation("ptx.syntax", "PTX line " + std::to_string(peek().line) + ": " + what +
                                      " (at '" + std::string(peek().text) + "')");
  }
  bool accept(std::string_view text) {
    if (peek().kind == Token::Kind::string || peek().text != text) return false;
    next();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail("expected '" + std::string(text) + "'");
  }
  std::string word() {
    if (peek().kind != Token::Kind::word) fail("expected a name");
    return std::string(next().text);
  }
  std::int64_t integer() {
    const bool minus = accept("-");
    if (peek().kind != Token::Kind::number) fail("expected a number");
    const std::uint64_t value = next().value;
    return static_cast<std::int64_t>(minus ? 0 - value : value);
  }
  // While it lives, what is read is one level deeper: braces of text that nobody wrote by hand must
  // not take the whole stack.
  class Level {
   public:
    explicit Level(TokenReader& reader) : reader_(reader) {
      if (++reader_.level_ > 100) reader_.fail("nested more than 100 deep");
    }
    ~Level() { --reader_.level_; }
    Level(const Level&) = delete;  // counted once
    Level& operator=(const Level&) = delete;

   private:
    TokenReader& reader_;
  };
  void skip_statement() {
    while (peek().kind != Token::Kind::end && !accept(";")) next();
  }
  void skip_braces() {
    int depth = 0;
    do {
      if (peek().kind == Token::Kind::end) fail("a brace is not closed");
      if (peek().text == "{") ++depth;
      if (peek().text == "}") --depth;
      next();
    } while (depth > 0);
  }
  void back() { --at_; }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int level_ = 0;
};

}  // namespace assay::model

// SPDX-License-Identifier: Apache-2.0
// Variables of PTX: their spaces, types, extents and initial values. PTX ISA 9.0, "State Spaces,
// Types, and Variables".
#pragma once
#include <bit>
#include <optional>

#include "harness/model/ptx/module.hpp"
#include "harness/model/ptx/reader.hpp"

namespace assay::model {

class VariableReader : public TokenReader {
 protected:
  using TokenReader::TokenReader;

  static std::optional<Variable::Space> state_space(std::string_view text) {
    if (text == ".shared" || text == ".shared::cta") return Variable::Space::shared;
    if (text == ".global") return Variable::Space::global;
    if (text == ".const") return Variable::Space::constant;
    if (text == ".local") return Variable::Space::local;
    if (text == ".param") return Variable::Space::parameter;
    return std::nullopt;
  }

  // [.align n] [.ptr ...] .type name [dims] [= initial]
  Variable variable(Variable::Space space) {
    Variable v{.space = space};
    int vector = 1;
    for (;;) {
      const std::string at(peek().text);
      if (at == ".align") {
        next();
        v.align = alignment();
      } else if (at == ".ptr" || at == ".managed" || at == ".unified" || at == ".attribute") {
        next();
        if (accept("(")) {
          while (!accept(")")) {
            if (peek().kind == Token::Kind::end) fail("a parenthesis is not closed");
            next();
          }
        }
        // .ptr may name a space of the pointer.
        if (at == ".ptr" && state_space(peek().text)) next();
      } else if (at == ".v2" || at == ".v4") {
        vector = at[2] - '0';
        next();
      } else {
        break;
      }
    }
    const std::string type = word();
    if (type.size() < 2 || (!parse_type(std::string_view(type).substr(1), v.type) &&
                            type != ".texref" && type != ".samplerref" && type != ".surfref"))
      fail("'" + type + "' is no type");
    last_ = v;
    last_vector_ = vector;
    return named(std::move(v), vector);
  }
  Variable variable_of_same_kind() { return named(last_, last_vector_); }

  Variable named(Variable v, int vector) {
    // Of a pointer's target: the space and the alignment.
    if (accept(".ptr")) {
      if (state_space(peek().text)) next();
      if (accept(".align")) alignment();
    }
    v.name = word();
    const std::int64_t element = std::max(1, v.type.bits / 8) * vector;
    v.bytes = element;
    v.align = std::max<int>(v.align, static_cast<int>(element));
    while (accept("[")) {
      std::int64_t count = 0;
      if (!accept("]")) {
        count = integer();
        expect("]");
      }
      if (count < 0 || count > kMostBytes || v.bytes * count > kMostBytes)
        fail("an array of more than 4 GiB");
      v.bytes *= count;
    }
    if (accept("=")) {
      initial(v, static_cast<int>(element));
      const auto given = static_cast<std::int64_t>(v.initial.size());
      if (v.bytes == 0) v.bytes = given;  // "[]": as many as are given
      if (given > v.bytes) fail("more initial values than '" + v.name + "' has elements");
      if (!v.addresses.empty() && element < 8) fail("an address as an initial value has 8 bytes");
    }
    return v;
  }
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;  // what 32 bits of offset reach

  // Of a variable: a power of two.
  int alignment() {
    const std::int64_t value = integer();
    if (value < 1 || value > 1 << 20 || !std::has_single_bit(static_cast<std::uint64_t>(value)))
      fail("an alignment is a power of two, at most 1 MiB");
    return static_cast<int>(value);
  }

  void initial(Variable& v, int element) {
    const Level level(*this);
    if (accept("{")) {
      while (!accept("}")) {
        initial(v, element);
        accept(",");
        if (peek().kind == Token::Kind::end) fail("an initial value has no end");
      }
      return;
    }
    std::uint64_t bits = 0;
    if (peek().kind == Token::Kind::word) {
      std::string symbol = word();
      if (symbol == "generic") {
        expect("(");
        symbol = word();
        expect(")");
      }
      std::int64_t addend = 0;
      if (accept("+")) addend = integer();
      v.addresses.push_back({static_cast<std::int64_t>(v.initial.size()), symbol, addend});
    } else {
      const bool minus = accept("-");
      if (peek().kind != Token::Kind::number) fail("expected an initial value");
      const Token& token = next();
      bits = minus ? 0 - token.value : token.value;
      if (token.floating && element == 4)
        bits = std::bit_cast<std::uint32_t>(
            static_cast<float>((minus ? -1 : 1) * std::bit_cast<double>(token.value)));
    }
    for (int i = 0; i < element; ++i)
      v.initial.push_back(static_cast<std::uint8_t>(bits >> (8 * (i & 7))));
  }

 private:
  Variable last_;
  int last_vector_ = 1;
};

}  // namespace assay::model

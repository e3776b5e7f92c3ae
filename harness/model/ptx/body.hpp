// SPDX-License-Identifier: Apache-2.0
// The body of a function of PTX: registers, labels and instructions. PTX ISA 9.0, "Instruction
// Operands", "Instruction Set".
#pragma once
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "harness/model/ptx/variables.hpp"

namespace assay::model {

class BodyReader : public VariableReader {
 protected:
  using VariableReader::VariableReader;

  // A block of statements in braces: what is declared there.
  struct Scope {
    std::size_t outer = 0;
    std::unordered_map<std::string, int> registers = {}, labels = {};
    std::unordered_map<std::string, std::vector<std::string>> tables = {};  // of brx
  };

  // From after its first brace to the last.
  void body(Function& function) {
    function_ = &function;
    scopes_.assign(1, {});
    open_ = {0};
    scope_of_.clear();
    source_ = {};
    block();
    resolve();
  }

 private:
  void block() {
    while (!accept("}")) {
      if (peek().kind == Token::Kind::end) fail("a function has no end");
      statement();
    }
  }

  void statement() {
    if (accept(";")) return;
    if (accept("{")) {
      const Level level(*this);
      open_.push_back(scopes_.size());
      scopes_.push_back({.outer = open_[open_.size() - 2]});
      block();
      open_.pop_back();
      return;
    }
    const std::string_view text = peek().text;
    if (text == ".reg" || text.starts_with(".reg.")) return registers();
    if (text == ".loc") return location();
    if (text == ".pragma") return skip_statement();
    if (text == ".file") {
      next();
      skip_statement();
      return;
    }
    if (auto space = state_space(text)) {
      next();
      local(variable(*space));
      while (accept(",")) local(variable_of_same_kind());
      expect(";");
      return;
    }
    if (peek().kind == Token::Kind::word && peek(1).text == ":") {
      label();
      return;
    }
    instruction();
  }

  void label() {
    const std::string name = word();
    expect(":");
    if (peek().text == ".branchtargets") {
      next();
      auto& targets = scopes_[open_.back()].tables[name];
      while (!accept(";")) {
        targets.push_back(word());
        accept(",");
      }
    } else if (peek().text == ".callprototype" || peek().text == ".calltargets") {
      skip_statement();
    } else {
      const auto here = static_cast<int>(function_->body.size());
      if (!scopes_[open_.back()].labels.emplace(name, here).second)
        fail("the label '" + name + "' stands twice in its block");
    }
  }

  // Arguments of calls have the same names again and again: one variable serves them all.
  void local(Variable v) {
    for (Variable& known : function_->locals)
      if (known.name == v.name && v.space == Variable::Space::parameter) {
        known.bytes = std::max(known.bytes, v.bytes);
        known.align = std::max(known.align, v.align);
        return;
      }
    function_->locals.push_back(std::move(v));
  }

  // `.reg .b32 %r<5>;`, also written `.reg.b32`.
  void registers() {
    const bool joined = peek().text != ".reg";
    if (!joined) next();
    int vector = 1;
    if (peek().text == ".v2" || peek().text == ".v4") vector = word()[2] - '0';
    if (vector != 1) fail("registers of vector type are not modelled");
    const std::string type = joined ? word().substr(4) : word();
    Type t;
    if (!parse_type(std::string_view(type).substr(1), t)) fail("'" + type + "' is no type");
    do {
      const std::string name = word();
      if (accept("<")) {
        const std::int64_t count = integer();
        expect(">");
        if (count < 0 || count > kMostRegisters) fail("too many registers");
        for (std::int64_t i = 0; i < count; ++i) declare(name + std::to_string(i), t);
      } else {
        declare(name, t);
      }
    } while (accept(","));
    expect(";");
  }
  void declare(const std::string& name, Type type) {
    if (++registers_ > kMostRegisters) fail("too many registers");
    scopes_[open_.back()].registers[name] = function_->slots;
    function_->registers.push_back({name, type, function_->slots});
    function_->slots += type.bits == 128 ? 2 : 1;
  }

  // .loc file line column [, function_name label [+ n], inlined_at file line column]: inlined code
  // has its own line and those of its callers. Where a caller was inlined in turn, a .loc before
  // said so.
  void location() {
    next();
    using Location = std::array<std::int64_t, 3>;
    const auto triple = [&] {
      const std::int64_t file = integer(), line = integer();
      return Location{file, line, integer()};
    };
    const Location here = triple();
    source_ = {static_cast<int>(here[0]), static_cast<int>(here[1]), {}};
    inlined_at_.erase(here);
    bool inlined = false;
    while (accept(",")) {
      if (accept("function_name")) {
        word();
        if (accept("+")) integer();
      } else if (accept("inlined_at")) {
        if (std::exchange(inlined, true)) fail("a line is inlined once");
        Location caller = triple();
        inlined_at_[here] = caller;
        for (int depth = 0; depth < 64; ++depth) {
          source_.callers.emplace_back(caller[0], caller[1]);
          const auto outer = inlined_at_.find(caller);
          if (outer == inlined_at_.end()) break;
          caller = outer->second;
        }
      } else {
        word();
        if (peek().kind == Token::Kind::number) integer();
      }
    }
  }

  std::optional<int> find_register(const std::string& name) const {
    for (const std::size_t scope : open_ | std::views::reverse) {
      const auto& all = scopes_[scope].registers;
      if (const auto found = all.find(name); found != all.end()) return found->second;
    }
    return std::nullopt;
  }

  void instruction() {
    Instruction i;
    i.text_line = peek().line;
    i.source = source_;
    if (accept("@")) {
      i.guard_negated = accept("!");
      const std::string guard = word();
      const auto slot = find_register(guard);
      if (!slot) fail("'" + guard + "' is no register");
      i.guard = *slot;
    }
    i.opcode = word();
    split(i.opcode, i.parts);
    if (i.parts[0] == "call") {
      call(i);
    } else {
      while (!accept(";")) {
        i.operands.push_back(operand());
        if (!accept(",") && peek().text != ";") fail("expected ',' or ';'");
      }
    }
    function_->body.push_back(std::move(i));
    scope_of_.push_back(open_.back());
  }

  static void split(const std::string& opcode, std::vector<std::string>& parts) {
    std::size_t from = 0;
    while (from <= opcode.size()) {
      const std::size_t dot = std::min(opcode.find('.', from), opcode.size());
      parts.push_back(opcode.substr(from, dot - from));
      from = dot + 1;
    }
  }

  // call [(results),] function [, (arguments)] [, prototype]: operands are a vector of results, the
  // function and a vector of arguments.
  void call(Instruction& i) {
    Operand results{.kind = Operand::Kind::vector}, arguments{.kind = Operand::Kind::vector};
    if (peek().text == "(") {
      results = parenthesized();
      expect(",");
    }
    Operand callee = operand();
    if (accept(",") && peek().text == "(") {
      arguments = parenthesized();
      accept(",");
    }
    while (!accept(";")) {
      if (peek().kind == Token::Kind::end) fail("a call has no end");
      next();
    }
    i.operands = {std::move(results), std::move(callee), std::move(arguments)};
  }
  Operand parenthesized() {
    Operand list{.kind = Operand::Kind::vector};
    expect("(");
    while (!accept(")")) {
      list.elements.push_back(operand());
      accept(",");
      if (peek().kind == Token::Kind::end) fail("a list has no end");
    }
    return list;
  }

  Operand operand() {
    const Level level(*this);
    Operand o;
    if (accept("{")) {
      o.kind = Operand::Kind::vector;
      while (!accept("}")) {
        o.elements.push_back(operand());
        if (!accept(",") && peek().text != "}") fail("expected ',' or '}'");
      }
      return o;
    }
    if (accept("[")) return address();
    if (accept("!")) {
      o = operand();
      o.negated = true;
      return o;
    }
    if (peek().kind == Token::Kind::number || peek().text == "-") return immediate();
    const std::string name = word();
    o = named_operand(name);
    if (o.kind == Operand::Kind::symbol && (accept("+"))) o.value = integer();
    if (accept("|")) {
      const std::string other = word();
      if (other != "_") {
        const auto slot = find_register(other);
        if (!slot) fail("'" + other + "' is no register");
        o.second = *slot;
      }
    }
    return o;
  }
  Operand named_operand(const std::string& name) const {
    Operand o;
    if (name == "_") return o;
    if (const auto slot = find_register(name)) {
      o.kind = Operand::Kind::register_;
      o.slot = *slot;
    } else {
      o.kind = Operand::Kind::symbol;
      o.symbol = name;
    }
    return o;
  }
  Operand immediate() {
    Operand o{.kind = Operand::Kind::immediate};
    const bool minus = accept("-");
    const Token& token = next();
    if (token.kind != Token::Kind::number) fail("expected a number");
    o.floating = token.floating;
    o.value = static_cast<std::int64_t>(token.value);
    if (minus)
      o.value = token.floating ? std::bit_cast<std::int64_t>(-std::bit_cast<double>(token.value))
                               : static_cast<std::int64_t>(0 - token.value);
    return o;
  }

  // [base], [base+offset], [map, {coordinates}], and what follows a base after commas.
  Operand address() {
    Operand o{.kind = Operand::Kind::memory};
    if (peek().kind == Token::Kind::number) {
      o.value = static_cast<std::int64_t>(next().value);
    } else {
      const Operand base = named_operand(word());
      o.slot = base.slot;
      o.symbol = base.symbol;
    }
    if (accept("+") || peek().text == "-")
      o.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(o.value) +
                                          static_cast<std::uint64_t>(integer()));
    while (accept(",")) o.elements.push_back(operand());
    expect("]");
    return o;
  }

  // What a name is in a block, or in the nearest one around it that knows it; null if none does.
  template <class Of>
  auto* find(Of Scope::*names, const std::string& name, std::size_t scope) {
    for (;; scope = scopes_[scope].outer) {
      auto& all = scopes_[scope].*names;
      if (const auto found = all.find(name); found != all.end()) return &found->second;
      if (scope == 0) return static_cast<decltype(&all.begin()->second)>(nullptr);
    }
  }

  // Labels, which blocks may use before they stand there. A block's are its own: inline assembly
  // that is expanded twice has the same label in two blocks.
  void resolve() {
    for (std::size_t k = 0; k < function_->body.size(); ++k) {
      Instruction& i = function_->body[k];
      for (Operand& o : i.operands) {
        if (o.kind != Operand::Kind::symbol) continue;
        if (const int* at = find(&Scope::labels, o.symbol, scope_of_[k])) {
          o.kind = Operand::Kind::label;
          i.target = *at;
        } else if (const auto* table = find(&Scope::tables, o.symbol, scope_of_[k])) {
          for (const std::string& name : *table) {
            const int* target = find(&Scope::labels, name, scope_of_[k]);
            if (target == nullptr) fail("no label '" + name + "'");
            i.targets.push_back(*target);
          }
        }
      }
    }
  }

  static constexpr std::int64_t kMostRegisters = 1'000'000;  // of all functions together

  std::int64_t registers_ = 0;
  Function* function_ = nullptr;
  std::vector<Scope> scopes_;          // all that the function has; the first is its own
  std::vector<std::size_t> open_;      // those around what is read, from the outermost
  std::vector<std::size_t> scope_of_;  // of each instruction
  SourceLine source_;
  std::map<std::array<std::int64_t, 3>, std::array<std::int64_t, 3>> inlined_at_;
};

}  // namespace assay::model

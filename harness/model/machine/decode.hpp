// SPDX-License-Identifier: Apache-2.0
// From the text of a kernel to actions: operands become registers' numbers, once.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/model/machine/run.hpp"

namespace assay::model {

// An address operand: base register plus offset.
struct AddressOperand {
  int slot = -1;
  std::int64_t offset = 0;
};

class Decoder {
 public:
  Decoder(const Module& module, const Function& function,
          const std::unordered_map<std::string, Address>& symbols, Program& program);

  // Register that takes a result; a scratch one for `_`.
  int destination(const Operand& operand);
  // Register that holds the operand: immediates, variables' addresses and special registers get one
  // of their own.
  int source(const Operand& operand, Type type = {});
  int constant(Value value);
  std::vector<int> destinations(const Operand& operand);
  std::vector<int> sources(const Operand& operand, Type type = {});
  AddressOperand address(const Operand& operand);
  bool is_predicate(const Operand& operand) const;
  int width(const Operand& operand) const;  // bits of a register; 64 of anything else
  int scratch();
  int carry();  // the register of add.cc and its kin

  // The operand's number where the manual wants one known when the kernel is compiled.
  static std::int64_t immediate(const Operand& operand, const char* what);

  const Function& function() const { return function_; }
  const std::string& target() const { return module_.target; }  // "sm_90a"
  Program& program() { return program_; }

 private:
  int special(const std::string& name);
  int symbol(const std::string& name, std::int64_t offset);

  const Module& module_;
  const Function& function_;
  const std::unordered_map<std::string, Address>& symbols_;
  Program& program_;
  std::map<Value, int> constants_;
  std::map<std::string, int> specials_;
  int carry_ = -1;
};

using Meaning = std::function<Action(Decoder&, const Instruction&)>;

// Meanings by the first words of an opcode ("ld", "mbarrier.init"); the longest that fits counts.
class Meanings {
 public:
  void add(std::string_view name, Meaning meaning) {
    by_name_[std::string(name)] = std::move(meaning);
  }
  const Meaning* find(const Instruction& instruction) const;
  // The words that it was found by; empty: there is none.
  std::string name_of(const Instruction& instruction) const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, Meaning> by_name_;
};

// All that are modelled.
const Meanings& meanings();

// What of the function's instructions the model cannot execute, a sentence each that begins with
// the opcode; empty: it can be run.
std::vector<std::string> unknown_instructions(
    const Module& module, const Function& function,
    const std::unordered_map<std::string, Address>& symbols);

// Throws Violation("model.unknown", ...) that names the instruction and its line.
Program decode(const Module& module, const Function& function,
               const std::unordered_map<std::string, Address>& symbols);

}  // namespace assay::model

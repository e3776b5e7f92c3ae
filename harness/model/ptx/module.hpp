// SPDX-License-Identifier: Apache-2.0
// A PTX module as text says it: functions, their registers by name, instructions and where in the
// source each comes from. PTX ISA 9.0, "Syntax".
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::model {

// A line of the source that an instruction was compiled from; file 0 is the PTX text itself.
struct SourceLine {
  int file = 0;
  int line = 0;
  std::vector<std::pair<int, int>> callers;  // file and line, of inlined code: innermost first
};

// What a register, variable, parameter or immediate is: .b .u .s .f .pred and the bits. Types of
// packed elements (.f16x2, .e4m3x2, ...) keep their name in the opcode and are bits here.
struct Type {
  enum class Kind : std::uint8_t { bits, unsigned_, signed_, floating, predicate };
  Kind kind = Kind::bits;
  int bits = 32;
};

// The type that a word such as "u32" or "pred" names; false if it names none.
bool parse_type(std::string_view word, Type& type);

struct Operand {
  enum class Kind : std::uint8_t { register_, immediate, symbol, memory, vector, discard, label };
  Kind kind = Kind::discard;
  bool negated = false;    // !p
  bool floating = false;   // the immediate was written as a floating-point number
  int slot = -1;           // register, or base register of an address (-1: symbol or absolute)
  std::int64_t value = 0;  // immediate's bits; offset of an address or symbol
  std::string symbol;      // variable, function or label; base of an address
  std::vector<Operand> elements;  // of a vector, or of the braces after a tensor map in an address
  int second = -1;                // register after `|` (shfl's predicate, setp's second result)
};

struct Instruction {
  std::string opcode;              // as written, "mbarrier.init.shared::cta.b64"
  std::vector<std::string> parts;  // split at '.', "::" kept
  int guard = -1;                  // register of @p
  bool guard_negated = false;
  std::vector<Operand> operands;
  SourceLine source;
  int text_line = 0;
  int target = -1;           // of a branch to a label: index of the instruction there
  std::vector<int> targets;  // of a branch by a table: the same of each

  bool has(std::string_view part) const;
};

struct Variable {
  enum class Space : std::uint8_t { shared, global, constant, local, parameter };
  std::string name;
  Space space = Space::global;
  Type type;
  std::int64_t bytes = 0;  // 0: extern, sized at launch
  int align = 1;
  bool external = false;
  std::vector<std::uint8_t> initial;
  // (offset, symbol, addend) of addresses in the initial value.
  struct Address {
    std::int64_t offset;
    std::string symbol;
    std::int64_t addend;
  };
  std::vector<Address> addresses;
};

struct Register {
  std::string name;
  Type type;
  int slot = 0;  // 128-bit registers own two
};

struct Function {
  std::string name;
  bool entry = false;
  std::vector<Variable> parameters, results;
  std::vector<Variable> locals;  // .local and .shared of the body, and .param of calls
  std::vector<Register> registers;
  int slots = 0;
  std::vector<Instruction> body;
  int max_threads[3] = {0, 0, 0};
  int required_cluster[3] = {0, 0, 0};
  bool explicit_cluster = false;
  int min_ctas = 0;
};

struct Module {
  std::string version, target;
  std::map<int, std::string> files;
  std::vector<Variable> variables;
  std::map<std::string, std::unique_ptr<Function>> function_of;
};

// Parses PTX text. Throws Violation("ptx.syntax", ...) that names the line.
Module parse_ptx(std::string_view text);

}  // namespace assay::model

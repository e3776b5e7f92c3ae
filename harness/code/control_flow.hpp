// SPDX-License-Identifier: Apache-2.0
// The loops of a disassembled function.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "harness/code/disassembly.hpp"

namespace assay {

// A natural loop: a header that dominates the branch back to it, and everything on the way.
struct Loop {
  std::size_t header;             // index into Function::code
  std::vector<std::size_t> body;  // indices, ascending; code placed out of line included
};

// Ordered by header. Loops with one header are one loop. The trap `BRA .` behind the last EXIT
// cannot be reached, so it is none. Backward branches that return from out-of-line code (BRA.DIV
// fallbacks) are none either: their target does not dominate them.
std::vector<Loop> find_loops(const Function& function);

// Where BSYNC continues: behind the BSSY of the same barrier register.
class Joins {
 public:
  explicit Joins(const std::vector<Instruction>& code);
  // Indices for the BSYNC at index i. Registers are used again and again; ptxas puts most BSYNC
  // right before where its BSSY points to, and for those there is no doubt.
  std::vector<std::size_t> of(const std::vector<Instruction>& code, std::size_t i) const;

 private:
  std::map<std::string, std::vector<std::size_t>> by_register_;
};

// Whether a branch (or EXIT, RET) may also be passed by.
bool is_conditional(const Instruction& branch);
// Leads to where only a table in memory says.
bool is_indirect(const Instruction& branch);

}  // namespace assay

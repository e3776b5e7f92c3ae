// SPDX-License-Identifier: Apache-2.0
// What is known about a warp's registers: constant propagation over intervals, for warp_roles.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/code/disassembly.hpp"

namespace assay::sass {

// All values a 32-bit register may have in any lane, as unsigned numbers; of a predicate, 0 and 1.
struct Range {
  std::uint32_t low = 0, high = 0xffffffff;

  bool operator==(const Range&) const = default;
  bool is_known() const { return low == high; }
};
inline constexpr Range kAnyPredicate{0, 1};

// By name: "R4", "UR4", "P0", "UP0". Whatever is not there may be anything.
class Values {
 public:
  // Of an operand: a register, a predicate or a number, negated with '-' or '!', or anything else.
  Range of(std::string_view operand) const;
  void set(std::string_view name, const Range& value);
  // Keeps what holds in both. True if that is less than before.
  bool meet(const Values& other);

  // Changes as `instruction` changes them. Follows those that roles are commonly computed with;
  // others may leave anything in what they write. `threads`: of %tid.x. Not `certain`: under a
  // predicate that may be false.
  void execute(const Instruction& instruction, const Range& threads, bool certain);

 private:
  void forget(const Instruction& instruction, const std::vector<std::string_view>& operands);

  std::map<std::string, Range, std::less<>> known_;
};

bool is_predicate(std::string_view operand);

// "R0, R1, 0x7" as its three operands.
std::vector<std::string_view> operands_of(const Instruction& instruction);

}  // namespace assay::sass

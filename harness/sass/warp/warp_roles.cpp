// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/warp/warp_roles.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "harness/code/control_flow.hpp"
#include "harness/sass/warp/warp_values.hpp"

namespace assay::sass {
namespace {

// One warp on its way through the kernel.
class Walk {
 public:
  Walk(const Function& function, const Joins& joins, const Range& threads)
      : code_(function.code), joins_(joins), threads_(threads), at_(code_.size()) {
    flow(0, {});
    for (const auto& [address, name] : function.routines) flow(address / 16, {});
    while (!pending_.empty()) {
      const std::size_t i = *pending_.begin();
      pending_.erase(pending_.begin());
      step(i);
    }
  }

  bool reached(std::size_t i) const { return at_[i].has_value(); }

 private:
  void flow(std::size_t to, const Values& values) {
    if (to >= code_.size()) return;
    if (!at_[to])
      at_[to] = values;
    else if (!at_[to]->meet(values))
      return;
    pending_.insert(to);
  }

  void step(std::size_t i) {
    const Instruction& instruction = code_[i];
    Values values = *at_[i];
    const Range guard = instruction.predicate.empty()
                            ? Range{1, 1}
                            : values.of(std::string_view(instruction.predicate).substr(1));
    if (guard.high == 0) return flow(i + 1, values);
    if (instruction.is("BSYNC")) {
      for (const std::size_t join : joins_.of(code_, i)) flow(join, values);
      if (guard.low == 0) flow(i + 1, values);
    } else if (instruction.is("EXIT") || instruction.is("RET")) {
      if (guard.low == 0) flow(i + 1, values);
    } else if (is_indirect(instruction)) {  // may go anywhere, with anything in the registers
      for (std::size_t to = i + 1; to < code_.size(); ++to) flow(to, {});
    } else if (instruction.is("BRA") || instruction.is("JMP") || instruction.is("WARPSYNC") ||
               instruction.is_jump_by_call()) {
      const Range taken = condition(instruction, guard, values);
      if (instruction.target && taken.high == 1) flow(*instruction.target / 16, values);
      if (!instruction.target || taken.low == 0) flow(i + 1, values);
    } else {
      values.execute(instruction, threads_, guard.low == 1);
      flow(i + 1, values);
    }
  }

  // "BRA.U UP0, 0x120" has its condition among the operands, and so does BRA.DIV.
  static Range condition(const Instruction& branch, const Range& guard, const Values& values) {
    if (branch.is("WARPSYNC")) return kAnyPredicate;
    const auto operands = operands_of(branch);
    if (operands.size() < 2) return guard;
    const std::string_view name = operands[0].substr(operands[0].starts_with('!'));
    return branch.is("BRA.U") && is_predicate(name) ? values.of(operands[0]) : kAnyPredicate;
  }

  const std::vector<Instruction>& code_;
  const Joins& joins_;
  Range threads_;
  std::vector<std::optional<Values>> at_;  // before each instruction that was reached
  std::set<std::size_t> pending_;
};

}  // namespace

std::vector<WarpSet> reaching_warps(const Function& function, int warps) {
  // A CTA of more than one dimension numbers its warps otherwise than along x.
  const bool is_flat = std::ranges::none_of(function.code, [](const Instruction& instruction) {
    return instruction.operands.ends_with("SR_TID.Y") || instruction.operands.ends_with("SR_TID.Z");
  });
  const Joins joins(function.code);
  std::vector<WarpSet> reach(function.code.size());
  for (int warp = 0; warp < std::min(warps, 32); ++warp) {
    const auto first = static_cast<std::uint32_t>(warp * 32);
    const Walk walk(function, joins, is_flat ? Range{first, first + 31} : Range{});
    for (std::size_t i = 0; i < reach.size(); ++i)
      if (walk.reached(i)) reach[i] |= WarpSet{1} << warp;
  }
  return reach;
}

std::string text_of(WarpSet warps) {
  std::string list;
  for (int first = 0; first < 32; ++first) {
    if (!(warps >> first & 1)) continue;
    int last = first;
    while (last < 31 && (warps >> (last + 1) & 1)) ++last;
    list += (list.empty() ? "" : " ") + std::to_string(first);
    if (last > first) list += "-" + std::to_string(last);
    first = last;
  }
  return list.empty() ? "none" : list;
}

}  // namespace assay::sass

// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/warp_roles.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "harness/control_flow.hpp"
#include "harness/sass/pipe.hpp"

namespace assay {
namespace {

constexpr std::uint32_t kTop = 0xffffffff;

// All values a 32-bit register may have, as unsigned numbers.
struct Range {
  std::uint32_t low = 0, high = kTop;
  bool operator==(const Range&) const = default;
  bool is_known() const { return low == high; }
  bool is_any() const { return low == 0 && high == kTop; }
};

// What is known at an instruction: registers and predicates by name ("R4", "UR4", "P0", "UP0").
// Whatever is not listed may be anything; predicates are 0 or 1.
using Values = std::map<std::string, Range, std::less<>>;

std::vector<std::string_view> split(std::string_view operands) {
  std::vector<std::string_view> parts;
  while (!operands.empty()) {
    const std::size_t end = std::min(operands.find(", "), operands.size());
    parts.push_back(operands.substr(0, end));
    operands.remove_prefix(std::min(end + 2, operands.size()));
  }
  return parts;
}

bool is_predicate(std::string_view operand) {
  if (operand.starts_with('U')) operand.remove_prefix(1);
  return operand.size() == 2 && operand[0] == 'P' &&
         (std::isdigit(operand[1]) || operand[1] == 'T');
}

bool is_register(std::string_view operand) {
  if (operand.starts_with('U')) operand.remove_prefix(1);
  return operand.size() >= 2 && operand[0] == 'R' &&
         (operand[1] == 'Z' || std::isdigit(static_cast<unsigned char>(operand[1])));
}

Range value_of(const Values& values, std::string_view operand) {
  bool negated = false;
  if (operand.starts_with('!')) {
    negated = true;
    operand.remove_prefix(1);
  }
  if (operand.ends_with(".reuse")) operand.remove_suffix(6);
  if (is_predicate(operand)) {
    Range value{0, 1};
    if (operand.ends_with("PT"))
      value = {1, 1};
    else if (const auto found = values.find(operand); found != values.end())
      value = found->second;
    return negated ? Range{1 - value.high, 1 - value.low} : value;
  }
  if (operand == "RZ" || operand == "URZ") return {0, 0};
  if (operand.starts_with("0x")) {
    std::uint32_t number = 0;
    const auto [end, error] =
        std::from_chars(operand.data() + 2, operand.data() + operand.size(), number, 16);
    if (error == std::errc{} && end == operand.data() + operand.size()) return {number, number};
  }
  const auto found = values.find(operand);
  return found == values.end() ? Range{} : found->second;
}

void set(Values& values, std::string_view name, const Range& value) {
  if (name.ends_with("RZ") || name.ends_with("PT")) return;
  const bool is_any = is_predicate(name) ? value.low == 0 && value.high >= 1 : value.is_any();
  if (!is_any)
    values.insert_or_assign(std::string(name), value);
  else if (const auto found = values.find(name); found != values.end())
    values.erase(found);
}

// 0, 1 or unknown: how `a` compares with `b`.
Range compare(const Instruction& instruction, const Range& a, const Range& b) {
  const auto has = [&](std::string_view part) {
    return (instruction.opcode + ".").find("." + std::string(part) + ".") != std::string::npos;
  };
  const auto decide = [](bool always, bool never) {
    return always ? Range{1, 1} : never ? Range{0, 0} : Range{0, 1};
  };
  const bool equal = a.is_known() && a == b, apart = a.high < b.low || b.high < a.low;
  if (has("EQ")) return decide(equal, apart);
  if (has("NE")) return decide(apart, equal);
  // Signed order is the unsigned one while neither reaches the sign bit.
  if (!has("U32") && (std::max(a.high, b.high) >> 31)) return {0, 1};
  if (has("LT")) return decide(a.high < b.low, a.low >= b.high);
  if (has("LE")) return decide(a.high <= b.low, a.low > b.high);
  if (has("GT")) return decide(a.low > b.high, a.high <= b.low);
  if (has("GE")) return decide(a.low >= b.high, a.high < b.low);
  return {0, 1};
}

// a & mask: bits above those in which low and high of `a` differ are known.
Range masked(const Range& a, std::uint32_t mask) {
  const int differing = 32 - std::countl_zero(a.low ^ a.high);
  const std::uint32_t unknown = differing == 32 ? kTop : (std::uint32_t{1} << differing) - 1;
  const std::uint32_t fixed = a.low & ~unknown & mask;
  return {fixed, fixed | (unknown & mask)};
}

// One warp on its way through the kernel.
class Walk {
 public:
  Walk(const Function& function, const Joins& joins, int warp)
      : code_(function.code), joins_(joins), at_(code_.size()) {
    const auto first = static_cast<std::uint32_t>(warp * 32);
    threads_ = {first, first + 31};
    // A CTA of more than one dimension numbers its warps otherwise.
    for (const Instruction& instruction : code_)
      if (instruction.operands.ends_with("SR_TID.Y") || instruction.operands.ends_with("SR_TID.Z"))
        threads_ = {};
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
  // What several ways bring along may be anything where they differ.
  void flow(std::size_t to, const Values& values) {
    if (to >= code_.size()) return;
    if (!at_[to]) {
      at_[to] = values;
      pending_.insert(to);
      return;
    }
    const std::size_t before = at_[to]->size();
    std::erase_if(*at_[to], [&](const auto& entry) {
      const auto other = values.find(entry.first);
      return other == values.end() || !(other->second == entry.second);
    });
    if (at_[to]->size() != before) pending_.insert(to);
  }

  void step(std::size_t i) {
    const Instruction& instruction = code_[i];
    Values values = *at_[i];
    const Range guard = instruction.predicate.empty()
                            ? Range{1, 1}
                            : value_of(values, std::string_view(instruction.predicate).substr(1));
    const bool jumps = instruction.is("BRA") || instruction.is("JMP") ||
                       instruction.is("WARPSYNC") || instruction.is_jump_by_call();
    const bool ends = instruction.is("EXIT") || instruction.is("RET");
    if (guard.high == 0) return flow(i + 1, values);
    if (jumps || ends || is_indirect(instruction) || instruction.is("BSYNC")) {
      Range taken = guard;
      // "BRA.U UP0, 0x120" has its condition among the operands.
      const auto operands = split(instruction.operands);
      if (jumps && operands.size() > 1)
        taken = instruction.is("BRA.U") && is_predicate(operands[0].substr(operands[0][0] == '!'))
                    ? value_of(values, operands[0])
                    : Range{0, 1};
      if (instruction.is("WARPSYNC")) taken = {0, 1};
      if (instruction.is("BSYNC"))
        for (const std::size_t join : joins_.of(code_, i)) flow(join, values);
      if (jumps && instruction.target && taken.high == 1) flow(*instruction.target / 16, values);
      if (is_indirect(instruction))  // may go anywhere, with anything in the registers
        for (std::size_t to = i + 1; to < code_.size(); ++to) flow(to, {});
      const bool passes = instruction.is("BSYNC") ? guard.low == 0 : taken.low == 0;
      if (passes || (jumps && !instruction.target)) flow(i + 1, values);
      return;
    }
    execute(instruction, values, guard.low == 1);
    flow(i + 1, values);
  }

  // Changes `values` as the instruction does. If it may not execute, results may also be the old.
  void execute(const Instruction& instruction, Values& values, bool certain) {
    const auto operands = split(instruction.operands);
    if (instruction.is("CALL")) return values.clear();
    if (instruction.is("SHFL.IDX") && operands.size() > 2) {  // some lane's value, for all lanes
      const Range value = value_of(values, operands[2]);
      set(values, operands[0], {0, 1});
      return set(values, operands[1], certain ? value : Range{});
    }
    const std::optional<Range> result = evaluate(instruction, operands, values);
    if (result) {
      const std::string_view name = operands[0];
      if (certain || value_of(values, name) == *result)
        set(values, name, *result);
      else
        set(values, name, is_predicate(name) ? Range{0, 1} : Range{});
      // ISETP has a second destination, the complement.
      for (std::size_t o = 1; o < std::min<std::size_t>(operands.size(), 2); ++o)
        if (is_predicate(operands[0]) && is_predicate(operands[o]))
          set(values, operands[o], {0, 1});
      return;
    }
    forget(instruction, operands, values);
  }

  // As many as an instruction of this kind may write.
  static int most_registers(const Instruction& instruction) {
    const auto has = [&](const char* part) {
      return instruction.opcode.find(part) != std::string::npos;
    };
    if (is_warpgroup_mma(instruction) || instruction.is("LDTM")) return 256;
    if (has("MMA") || has("256")) return 8;
    if (has("128") || has("LDSM") || instruction.is("TEX") || instruction.is("TLD")) return 4;
    const bool two = has("64") || has("WIDE") || instruction.opcode.starts_with('D') ||
                     instruction.is("CS2R") || instruction.is("FADD2") || instruction.is("FMUL2") ||
                     instruction.is("FFMA2");
    return two ? 2 : 1;
  }

  // Of instructions that are not followed: the first operand with the registers it may be the first
  // of, and every predicate named.
  static void forget(const Instruction& instruction, const std::vector<std::string_view>& operands,
                     Values& values) {
    for (const std::string_view operand : operands)
      if (is_predicate(operand)) set(values, operand, {0, 1});
    for (std::size_t o = 0; o < std::min<std::size_t>(operands.size(), 3); ++o) {
      const std::string_view operand = operands[o];
      if (is_predicate(operand)) continue;
      if (!is_register(operand.substr(0, operand.find('.')))) return;
      const bool uniform = operand[0] == 'U';
      int first = 0;
      const char* digits = operand.data() + (uniform ? 2 : 1);
      if (std::from_chars(digits, operand.data() + operand.size(), first).ec != std::errc{}) return;
      for (int r = first; r < first + most_registers(instruction); ++r)
        set(values, (uniform ? "UR" : "R") + std::to_string(r), {});
      return;
    }
  }

  std::optional<Range> evaluate(const Instruction& instruction,
                                const std::vector<std::string_view>& operands,
                                const Values& values) const {
    if (operands.empty()) return std::nullopt;
    const auto in = [&](std::size_t o) {
      return o < operands.size() ? value_of(values, operands[o]) : Range{};
    };
    const bool one_register = is_register(operands[0]) &&
                              instruction.opcode.find(".64") == std::string::npos &&
                              instruction.opcode.find(".WIDE") == std::string::npos;
    if ((instruction.is("ISETP") || instruction.is("UISETP")) && operands.size() == 5 &&
        instruction.opcode.find(".EX") == std::string::npos) {
      const Range comparison = compare(instruction, in(2), in(3)), with = in(4);
      if (instruction.opcode.ends_with(".AND"))
        return Range{comparison.low & with.low, comparison.high & with.high};
      if (instruction.opcode.ends_with(".OR"))
        return Range{comparison.low | with.low, comparison.high | with.high};
      return Range{0, 1};
    }
    if (!one_register) return std::nullopt;
    if (instruction.is("S2R") || instruction.is("S2UR"))
      return operands.back() == "SR_TID.X" ? threads_ : Range{};
    if (instruction.is("MOV") || instruction.is("UMOV") || instruction.is("R2UR"))
      return operands.size() == 2 ? std::optional(in(1)) : std::nullopt;
    if (instruction.is("IMAD.MOV.U32") || instruction.is("IMAD.U32"))
      return operands.size() == 4 && in(1) == Range{0, 0} ? std::optional(in(3)) : std::nullopt;
    if (instruction.is("SHF.R.U32.HI") || instruction.is("USHF.R.U32.HI") ||
        instruction.is("SHF.R.S32.HI") || instruction.is("USHF.R.S32.HI")) {
      const Range by = in(2), value = in(3);
      const bool is_signed = instruction.opcode.find(".S32") != std::string::npos;
      if (operands.size() != 4 || !by.is_known() || by.low > 31 || (is_signed && value.high >> 31))
        return std::nullopt;
      return Range{value.low >> by.low, value.high >> by.low};
    }
    if ((instruction.is("LOP3.LUT") || instruction.is("ULOP3.LUT")) && operands.size() == 6 &&
        operands[4] == "0xc0" && in(2).is_known())
      return masked(in(1), in(2).low);
    return std::nullopt;
  }

  const std::vector<Instruction>& code_;
  const Joins& joins_;
  std::vector<std::optional<Values>> at_;  // before each instruction that was reached
  std::set<std::size_t> pending_;
  Range threads_;
};

}  // namespace

std::vector<WarpSet> reaching_warps(const Function& function, int warps) {
  std::vector<WarpSet> reach(function.code.size());
  const Joins joins(function.code);
  for (int warp = 0; warp < std::min(warps, 32); ++warp) {
    const Walk walk(function, joins, warp);
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

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/warp/warp_values.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <optional>

#include "harness/sass/cost/pipe.hpp"

namespace assay::sass {
namespace {

constexpr Range kAny{};

bool is_register(std::string_view operand) {
  if (operand.starts_with('U')) operand.remove_prefix(1);
  return operand.size() >= 2 && operand[0] == 'R' &&
         (operand[1] == 'Z' || std::isdigit(static_cast<unsigned char>(operand[1])));
}

bool has(const Instruction& instruction, std::string_view part) {
  return instruction.opcode.find(part) != std::string::npos;
}

Range decide(bool always, bool never) {
  return always ? Range{1, 1} : never ? Range{0, 0} : kAnyPredicate;
}

// 0, 1 or unknown: how `a` compares with `b`.
Range compare(const Instruction& instruction, const Range& a, const Range& b) {
  const auto is = [&](std::string_view relation) {
    return has(instruction, "." + std::string(relation) + ".");
  };
  const bool equal = a.is_known() && a == b, apart = a.high < b.low || b.high < a.low;
  if (is("EQ")) return decide(equal, apart);
  if (is("NE")) return decide(apart, equal);
  // Signed order is the unsigned one while neither reaches the sign bit.
  if (!is("U32") && std::max(a.high, b.high) >> 31) return kAnyPredicate;
  if (is("LT")) return decide(a.high < b.low, a.low >= b.high);
  if (is("LE")) return decide(a.high <= b.low, a.low > b.high);
  if (is("GT")) return decide(a.low > b.high, a.high <= b.low);
  if (is("GE")) return decide(a.low >= b.high, a.high < b.low);
  return kAnyPredicate;
}

// a & mask: bits above those in which low and high of `a` differ are known.
Range masked(const Range& a, std::uint32_t mask) {
  const int differing = 32 - std::countl_zero(a.low ^ a.high);
  const std::uint32_t unknown =
      differing == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << differing) - 1;
  const std::uint32_t fixed = a.low & ~unknown & mask;
  return {fixed, fixed | (unknown & mask)};
}

Range sum(const Range& a, const Range& b) {
  const std::uint64_t low = std::uint64_t{a.low} + b.low, high = std::uint64_t{a.high} + b.high;
  if (low >> 32 != high >> 32) return kAny;  // some of them wrap
  return {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high)};
}

// Bit (4 a + 2 b + c) of the table is the result for bits a, b and c.
std::uint32_t look_up(std::uint32_t table, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t result = 0;
  for (std::uint32_t row = 0; row < 8; ++row)
    if (table >> row & 1) result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  return result;
}

// As many registers as an instruction of this kind may write.
int most_registers(const Instruction& instruction) {
  if (is_warpgroup_mma(instruction) || instruction.is("LDTM")) return 256;
  if (has(instruction, "MMA") || has(instruction, "256")) return 8;
  if (has(instruction, "128") || instruction.is("LDSM") || instruction.is("TEX") ||
      instruction.is("TLD"))
    return 4;
  const bool two = has(instruction, "64") || has(instruction, "WIDE") ||
                   instruction.opcode.starts_with('D') || instruction.is("CS2R") ||
                   instruction.is("FADD2") || instruction.is("FMUL2") || instruction.is("FFMA2");
  return two ? 2 : 1;
}

using Operands = std::vector<std::string_view>;

// What the comparison or table look-up of predicates gives.
std::optional<Range> predicate_result(const Instruction& instruction, const Operands& operands,
                                      const Values& values) {
  const auto in = [&](std::size_t o) { return values.of(operands[o]); };
  if ((instruction.is("ISETP") || instruction.is("UISETP")) && operands.size() == 5 &&
      !has(instruction, ".EX")) {
    const Range comparison = compare(instruction, in(2), in(3)), with = in(4);
    if (instruction.opcode.ends_with(".AND"))
      return Range{comparison.low & with.low, comparison.high & with.high};
    if (instruction.opcode.ends_with(".OR"))
      return Range{comparison.low | with.low, comparison.high | with.high};
  }
  if ((instruction.is("PLOP3.LUT") || instruction.is("UPLOP3.LUT")) && operands.size() == 7) {
    const std::uint32_t table = in(5).low;
    Range result{1, 0};
    for (std::uint32_t row = 0; row < 8; ++row) {
      const auto may = [&](std::size_t o, std::uint32_t bit) {
        return in(o).low <= bit && bit <= in(o).high;
      };
      if (!may(2, row >> 2 & 1) || !may(3, row >> 1 & 1) || !may(4, row & 1)) continue;
      result = {std::min(result.low, table >> row & 1), std::max(result.high, table >> row & 1)};
    }
    if (result.low <= result.high) return result;
  }
  return std::nullopt;
}

// What an instruction writes to the one 32-bit register that is its first operand.
std::optional<Range> register_result(const Instruction& instruction, const Operands& operands,
                                     const Values& values, const Range& threads) {
  const auto in = [&](std::size_t o) { return values.of(operands[o]); };
  const std::size_t count = operands.size();
  // Uniform instructions are the same with a U before.
  const std::string opcode =
      instruction.opcode.starts_with('U') ? instruction.opcode.substr(1) : instruction.opcode;
  const Instruction plain{.opcode = opcode};
  if (instruction.is("S2R") || instruction.is("S2UR"))
    return operands.back() == "SR_TID.X" ? threads : kAny;
  if ((plain.is("MOV") || instruction.is("R2UR")) && count == 2) return in(1);
  if (plain.is("VIADD") && count == 3) return sum(in(1), in(2));
  if (plain.is("IADD3") && opcode == "IADD3" && count == 4) return sum(sum(in(1), in(2)), in(3));
  if (plain.is("SEL") && count == 4 && in(3).is_known()) return in(in(3).low ? 1 : 2);
  if (plain.is("IMAD") && count == 4) {
    const Range a = in(1), b = in(2), c = in(3);
    if (has(plain, "WIDE") || has(plain, "HI") || has(plain, ".X")) return std::nullopt;
    if (a == Range{0, 0} || b == Range{0, 0}) return c;
    if (a.is_known() && b.is_known()) return sum({a.low * b.low, a.low * b.low}, c);
    if (b == Range{1, 1}) return sum(a, c);
    return std::nullopt;
  }
  if (plain.is("LOP3.LUT") && count == 6) {
    const Range a = in(1), b = in(2), c = in(3), table = in(4);
    if (table == Range{0xc0, 0xc0} && b.is_known()) return masked(a, b.low);
    if (!a.is_known() || !b.is_known() || !c.is_known()) return std::nullopt;
    const std::uint32_t result = look_up(table.low, a.low, b.low, c.low);
    return Range{result, result};
  }
  if ((plain.is("SHF.R.U32.HI") || plain.is("SHF.R.S32.HI")) && count == 4) {
    const Range by = in(2), value = in(3);
    const bool keeps_sign = has(plain, ".S32") && value.high >> 31;
    if (!by.is_known() || by.low > 31 || keeps_sign) return std::nullopt;
    return Range{value.low >> by.low, value.high >> by.low};
  }
  // b + ((c : a) >> (32 - shift)): with a sign of 0 for `a`, the first step of a signed division.
  if (plain.is("LEA.HI") && opcode == "LEA.HI" && count == 5 && in(1) == Range{0, 0} &&
      in(3) == Range{0, 0})
    return in(2);
  return std::nullopt;
}

}  // namespace

bool is_predicate(std::string_view operand) {
  if (operand.starts_with('U')) operand.remove_prefix(1);
  return operand.size() == 2 && operand[0] == 'P' &&
         (operand[1] == 'T' || std::isdigit(static_cast<unsigned char>(operand[1])));
}

std::vector<std::string_view> operands_of(const Instruction& instruction) {
  std::vector<std::string_view> parts;
  std::string_view operands = instruction.operands;
  while (!operands.empty()) {
    const std::size_t end = std::min(operands.find(','), operands.size());
    std::string_view part = operands.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    operands.remove_prefix(std::min(end + 1, operands.size()));
  }
  return parts;
}

Range Values::of(std::string_view operand) const {
  const bool negated = operand.starts_with('-') || operand.starts_with('!');
  if (negated) operand.remove_prefix(1);
  if (operand.ends_with(".reuse")) operand.remove_suffix(6);
  if (is_predicate(operand)) {
    const auto found = known_.find(operand);
    const Range value = operand.ends_with("PT") ? Range{1, 1}
                        : found == known_.end() ? kAnyPredicate
                                                : found->second;
    return negated ? Range{1 - value.high, 1 - value.low} : value;
  }
  Range value = kAny;
  if (operand == "RZ" || operand == "URZ") {
    value = {0, 0};
  } else if (operand.starts_with("0x")) {
    std::uint32_t number = 0;
    const auto [end, error] =
        std::from_chars(operand.data() + 2, operand.data() + operand.size(), number, 16);
    if (error == std::errc{} && end == operand.data() + operand.size()) value = {number, number};
  } else if (const auto found = known_.find(operand); found != known_.end()) {
    value = found->second;
  }
  if (!negated) return value;
  return value.is_known() ? Range{0 - value.low, 0 - value.low} : kAny;
}

void Values::set(std::string_view name, const Range& value) {
  if (name.ends_with("RZ") || name.ends_with("PT")) return;
  const bool is_any = is_predicate(name) ? value.low == 0 && value.high >= 1 : value == kAny;
  if (!is_any)
    known_.insert_or_assign(std::string(name), value);
  else if (const auto found = known_.find(name); found != known_.end())
    known_.erase(found);
}

bool Values::meet(const Values& other) {
  return std::erase_if(known_, [&](const auto& entry) {
           const auto found = other.known_.find(entry.first);
           return found == other.known_.end() || !(found->second == entry.second);
         }) > 0;
}

void Values::execute(const Instruction& instruction, const Range& threads, bool certain) {
  if (instruction.is("CALL")) return known_.clear();
  const Operands operands = operands_of(instruction);
  if (operands.empty()) return;
  const auto write = [&](std::string_view name, const Range& value) {
    set(name, certain || of(name) == value ? value : is_predicate(name) ? kAnyPredicate : kAny);
  };
  if (instruction.is("SHFL.IDX") && operands.size() > 2) {  // one lane's value, for all of them
    const Range value = of(operands[2]);
    set(operands[0], kAnyPredicate);
    return write(operands[1], value);
  }
  if (is_predicate(operands[0])) {
    const auto result = predicate_result(instruction, operands, *this);
    if (!result) return forget(instruction, operands);
    write(operands[0], *result);
    if (is_predicate(operands[1])) set(operands[1], kAnyPredicate);  // the complement
    return;
  }
  if (is_register(operands[0]) && most_registers(instruction) == 1)
    if (const auto result = register_result(instruction, operands, *this, threads))
      return write(operands[0], *result);
  forget(instruction, operands);
}

// The first register with those it may be the first of, and every predicate named.
void Values::forget(const Instruction& instruction, const Operands& operands) {
  for (const std::string_view operand : operands)
    if (is_predicate(operand)) set(operand, kAnyPredicate);
  const auto written = std::ranges::find_if_not(operands, is_predicate);
  if (written == operands.end() || !is_register(written->substr(0, written->find('.')))) return;
  const bool uniform = written->starts_with('U');
  int first = 0;
  const char* digits = written->data() + (uniform ? 2 : 1);
  if (std::from_chars(digits, written->data() + written->size(), first).ec != std::errc{}) return;
  for (int r = first; r < first + most_registers(instruction); ++r)
    set((uniform ? "UR" : "R") + std::to_string(r), kAny);
}

}  // namespace assay::sass

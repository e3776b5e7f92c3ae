// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay::isa {
namespace {

enum class Weight : std::uint8_t { none, control, order, integer, floating, unit };

constexpr int kLighterThanNative = 6;
constexpr int kLighterThanPiece = 2;

struct Weighed {
  Weight weight;
  std::vector<std::string_view> opcodes;  // prefixes that end at a dot
};

const std::vector<Weighed>& weights() {
  static const std::vector<Weighed> table = {
      {Weight::none,
       {"NOP", "MOV", "UMOV", "IMAD.MOV", "CS2R", "R2UR", "LDC", "LDCU", "ULDC", "S2R", "S2UR",
        "B2R", "RPCMOV", "EXIT", "STL"}},
      {Weight::control,
       {"PRMT",   "UPRMT",  "BRA",       "BSSY", "BSYNC",     "BREAK", "WARPSYNC", "PLOP3",
        "UPLOP3", "P2R",    "R2P",       "P2UR", "UP2UR",     "UR2UP", "R2UP",     "RET",
        "CALL",   "ERRBAR", "CGAERRBAR", "CCTL", "LDGDEPBAR", "VOTEU", "YIELD"}},
      {Weight::order, {"ELECT", "MEMBAR", "DEPBAR", "WARPGROUP", "NANOSLEEP", "BPT"}},
      {Weight::integer,
       {"IADD3",   "UIADD3",    "IADD",       "UIADD",    "IADD3X",    "VIADD",  "IMAD",
        "UIMAD",   "LOP3",      "ULOP3",      "LOP",      "SHF",       "USHF",   "SHL",
        "SHR",     "SEL",       "USEL",       "LEA",      "ULEA",      "ISETP",  "UISETP",
        "BMSK",    "UBMSK",     "SGXT",       "USGXT",    "IABS",      "IMNMX",  "VIMNMX",
        "UVIMNMX", "VIADDMNMX", "UVIADDMNMX", "VABSDIFF", "VABSDIFF4", "UVIADD", "VIMNMX3"}},
      {Weight::floating,
       {"FADD",   "FMUL",    "FFMA",    "FMNMX",    "FSETP",    "FSEL",  "FSET",  "HADD2",
        "HMUL2",  "HFMA2",   "HMNMX2",  "HSETP2",   "HSET2",    "FADD2", "FMUL2", "FFMA2",
        "FMNMX3", "FFMA32I", "FSWZADD", "HADD2_32", "HFMA2_32", "UFADD", "UFMUL", "UFFMA",
        "UFMNMX", "UFSETP",  "UFSEL",   "FHADD",    "FHFMA"}},
  };
  return table;
}

Weight weight_of(const std::string& opcode) {
  const Instruction instruction{.opcode = opcode};
  for (const Weighed& weighed : weights())
    if (std::ranges::any_of(weighed.opcodes, [&](auto prefix) { return instruction.is(prefix); }))
      return weighed.weight;
  return Weight::unit;
}

std::string base(const std::string& opcode) { return opcode.substr(0, opcode.find('.')); }

// The scheduler spreads additions and shifts over two pipes as it sees fit: one name for both, so
// that they cancel in a subtraction.
std::string canonical(const std::string& opcode) {
  if (opcode == "IMAD.X") return "IADD3.X";
  if (opcode == "IMAD.IADD") return "IADD3";
  if (opcode == "IMAD.SHL.U32") return "SHF.L.U32";
  return opcode;
}

// Arithmetic that ptxas writes where others write a move: on zero registers.
bool is_move(const Instruction& instruction) {
  const std::string& operands = instruction.operands;
  return (instruction.is("HFMA2") && operands.find(", -RZ, RZ,") != operands.npos) ||
         ((instruction.opcode == "IMAD" || instruction.is("IMAD.U32")) &&
          operands.find(", RZ, RZ,") != operands.npos);
}

// Traps on misuse of tensor memory do not do the instruction's work.
bool is_aside(std::string_view routine) { return routine.find("guardrail_trap") != routine.npos; }

struct Census {
  OpcodeCount opcodes;
  std::set<std::string> calls;
};

// Of the kernel itself; the routines that stand behind it only by name.
Census census_of(const Function& function) {
  Census census;
  const std::uint32_t end = function.routines.empty() ? ~0U : function.routines.begin()->first;
  for (const Instruction& instruction : function.code) {
    if (instruction.address >= end) break;
    if (instruction.never_executes() || instruction.is("NOP") || is_move(instruction)) continue;
    if (!instruction.callee.empty()) census.calls.insert(instruction.callee);
    ++census.opcodes[canonical(instruction.opcode)];
  }
  return census;
}

}  // namespace

std::string_view name(Support support) {
  constexpr std::string_view kNames[] = {"native", "emulated", "split", "rejected", "unknown"};
  return kNames[static_cast<int>(support)];
}

Evidence difference(const Function& frame, const Function& kernel) {
  Census more = census_of(kernel);
  for (const auto& [opcode, count] : census_of(frame).opcodes) more.opcodes[opcode] -= count;
  // Of a wide register of which a form reads one half, only that half is loaded.
  for (const auto& [lost, missing] : more.opcodes)
    for (auto& [found, count] : more.opcodes)
      if (missing < 0 && count > 0 && base(lost) == base(found))
        count = std::max(0, count + missing);
  std::erase_if(more.opcodes, [](const auto& entry) { return entry.second <= 0; });
  return {.accepted = true,
          .opcodes = std::move(more.opcodes),
          .calls = {more.calls.begin(), more.calls.end()}};
}

Evidence contents(std::span<const Function> kernels) {
  constexpr std::string_view kFrame[] = {"LDG", "STG", "LD",    "ST",    "EXIT", "BRA",   "RET",
                                         "LEA", "SHF", "ISETP", "IADD3", "IMAD", "UIADD3"};
  OpcodeCount all, inner;
  std::set<std::string> routines;
  for (const Function& kernel : kernels) {
    const Census census = census_of(kernel);
    for (const auto& [opcode, count] : census.opcodes) all[opcode] += count;
    routines.insert(census.calls.begin(), census.calls.end());
  }
  for (const auto& [opcode, count] : all) {
    const Instruction instruction{.opcode = opcode};
    if (std::ranges::none_of(kFrame, [&](auto frame) { return instruction.is(frame); }))
      inner[opcode] = count;
  }
  return {.accepted = true,
          .opcodes = inner.empty() ? all : inner,
          .calls = {routines.begin(), routines.end()}};
}

namespace {

// What does the work: the heaviest there is, but that of a fence is its MEMBAR, whatever arithmetic
// chooses between two of them.
Weight heaviest_of(const OpcodeCount& opcodes) {
  Weight heaviest = Weight::none;
  bool fences = false;
  for (const auto& [opcode, count] : opcodes) {
    heaviest = std::max(heaviest, weight_of(opcode));
    fences = fences || base(opcode) == "MEMBAR";
  }
  return fences && heaviest == Weight::integer ? Weight::order : heaviest;
}

// Instead of a target it lacks, the assembler names the way it was called.
bool is_about_the_call(const std::string& words) {
  return words.find("per-function compilation mode") != words.npos;
}

}  // namespace

Verdict judge(const Evidence& evidence, const Shape& shape) {
  Verdict verdict{.calls = evidence.calls, .words = evidence.words};
  if (!evidence.accepted) {
    if (is_about_the_call(evidence.words)) verdict.support = Support::unknown;
    return verdict;
  }
  if (!evidence.readable) {
    verdict.support = Support::unknown;
    return verdict;
  }
  if (evidence.opcodes.empty() && evidence.calls.empty() && !shape.leaves_result) {
    verdict.support = Support::unknown;
    verdict.words += verdict.words.empty() ? "" : "; ";
    verdict.words += "nothing is left of it: not needed here, or dropped";
    return verdict;
  }
  const Weight heaviest = heaviest_of(evidence.opcodes);
  std::set<std::string> bases;  // of what counts
  int all = 0, counting = 0, lighter = 0;
  for (const auto& [opcode, count] : evidence.opcodes) {
    const Weight weight = weight_of(opcode);
    if (weight == Weight::none && heaviest != Weight::none) continue;
    verdict.opcodes[opcode] = count;
    all += count;
    if (weight == heaviest) {
      counting += count;
      bases.insert(base(opcode));
    } else if (weight > Weight::order) {
      lighter += count;
    }
  }
  const bool each_its_own = shape.statements > 1 && counting + lighter <= shape.statements;
  const bool works_here = std::ranges::all_of(evidence.calls, is_aside);
  if (works_here && (heaviest == Weight::none || each_its_own ||
                     (counting == 1 && lighter <= kLighterThanNative)))
    verdict.support = Support::native;
  else if (works_here && bases.size() == 1 && lighter <= kLighterThanPiece * counting)
    verdict.support = Support::split;
  else
    verdict.support = Support::emulated;
  verdict.count = verdict.support == Support::emulated ? all : counting;
  return verdict;
}

std::string describe(const Verdict& verdict) {
  std::vector<std::pair<std::pair<int, int>, std::string>> ordered;
  for (const auto& [opcode, count] : verdict.opcodes)
    ordered.push_back({{-static_cast<int>(weight_of(opcode)), -count}, opcode});
  std::ranges::sort(ordered);
  std::string text;
  for (const auto& [rank, opcode] : ordered)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", -rank.second, opcode);
  for (const std::string& routine : verdict.calls)
    text += fmt::format("{}call of {}", text.empty() ? "" : ", ", routine);
  return text.empty() ? "nothing" : text;
}

}  // namespace assay::isa

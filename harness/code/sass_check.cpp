// SPDX-License-Identifier: Apache-2.0
#include "harness/code/sass_check.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "harness/code/control_flow.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {

bool counts(const Instruction& instruction) {
  return !instruction.never_executes() && !instruction.is("NOP");
}

// Whether it is one of the alternatives of a rule, "HADD2|HFMA2".
bool is_one_of(const Instruction& instruction, std::string_view opcodes) {
  while (true) {
    const std::size_t bar = opcodes.find('|');
    if (instruction.is(opcodes.substr(0, bar))) return true;
    if (bar == std::string_view::npos) return false;
    opcodes.remove_prefix(bar + 1);
  }
}

int matches(const OpcodeCount& census, const std::string& opcodes) {
  int count = 0;
  for (const auto& [found, n] : census)
    if (is_one_of({.opcode = found}, opcodes)) count += n;
  return count;
}

// The part of a loop's census that the first rule for the loop asks for.
OpcodeCount named_by(const std::vector<SassRule>& rules, const OpcodeCount& loop) {
  OpcodeCount named;
  const auto first = std::ranges::find(rules, SassWhere::loop, &SassRule::where);
  if (first == rules.end()) return named;
  for (const auto& entry : loop)
    if (is_one_of({.opcode = entry.first}, first->opcode)) named.insert(entry);
  return named;
}

// nullptr if there is no loop.
const Loop* measured_loop(const Function& function, const std::vector<Loop>& loops,
                          const std::vector<SassRule>& rules) {
  // The smallest loop around an instruction is the one it belongs to directly.
  std::vector<std::size_t> owner(function.code.size(), loops.size());
  for (std::size_t l = 0; l < loops.size(); ++l)
    for (const std::size_t i : loops[l].body)
      if (owner[i] == loops.size() || loops[l].body.size() < loops[owner[i]].body.size())
        owner[i] = l;

  // What is asked of the whole kernel says nothing of the loop, where anything is asked of it.
  const bool of_loop = std::ranges::any_of(rules, [](const SassRule& rule) {
    return rule.where == SassWhere::loop && rule.at_least > 0;
  });
  const auto is_expected = [&](const Instruction& instruction) {
    const bool excluded = std::ranges::any_of(rules, [&](const SassRule& rule) {
      return rule.at_most == 0 && is_one_of(instruction, rule.opcode);
    });
    return !excluded && std::ranges::any_of(rules, [&](const SassRule& rule) {
      return rule.at_least > 0 && (rule.where == SassWhere::loop || !of_loop) &&
             is_one_of(instruction, rule.opcode);
    });
  };
  std::vector<std::pair<int, int>> score(loops.size());  // expected instructions, then any
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] == loops.size() || !counts(function.code[i])) continue;
    score[owner[i]].first += is_expected(function.code[i]);
    score[owner[i]].second += 1;
  }
  const auto best = std::ranges::max_element(score);
  if (best == score.end()) return nullptr;
  const Loop* found = &loops[static_cast<std::size_t>(best - score.begin())];
  // A loop whose first round is before it leaves as much to the loop around it.
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (score[l].first == best->first && best->first > 0 &&
        loops[l].body.size() < found->body.size() &&
        std::ranges::count(found->body, loops[l].body.front()) > 0)
      found = &loops[l];
  return found;
}

// "FADD 256, HMMA.16816.F32 2, ...", most frequent first.
std::string describe(const OpcodeCount& census) {
  constexpr std::size_t kShown = 8;
  std::vector<std::pair<std::string, int>> sorted(census.begin(), census.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &std::pair<std::string, int>::second);
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kShown); ++i)
    text += (i ? ", " : "") + sorted[i].first + " " + std::to_string(sorted[i].second);
  if (sorted.size() > kShown) text += ", ...";
  return text.empty() ? "nothing" : text;
}

void check_rule(const SassRule& rule, bool has_loop, SassFindings& findings) {
  const bool in_loop = rule.where == SassWhere::loop;
  if (in_loop && !has_loop) {
    if (rule.at_least > 0)
      findings.problems.push_back("expected " + rule.opcode +
                                  " in a loop, but the kernel has no loop: it was unrolled or "
                                  "hoisted away; the kernel holds: " +
                                  describe(findings.whole));
    return;
  }
  const OpcodeCount& census = in_loop ? findings.loop : findings.whole;
  const int found = matches(census, rule.opcode);
  if (found >= rule.at_least && found <= rule.at_most) return;
  const std::string place = in_loop ? "loop" : "kernel";
  const bool few = found < rule.at_least;
  std::string bound = rule.at_least == rule.at_most ? "" : few ? "at least " : "at most ";
  findings.problems.push_back(
      "expected " + bound + std::to_string(few ? rule.at_least : rule.at_most) + " " + rule.opcode +
      " in the " + place + ", found " + std::to_string(found) + "; the " + place +
      " holds: " + describe(census));
}

std::vector<std::string> calls_in(const Function& function,
                                  const std::vector<std::size_t>& indices) {
  std::vector<std::string> names;
  for (const std::size_t i : indices) {
    const Instruction& instruction = function.code[i];
    if (!instruction.is("CALL") || instruction.never_executes() || instruction.is_jump_by_call())
      continue;
    std::string name = instruction.callee.empty() ? "an unknown address" : instruction.callee;
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

void examine(const Function& function, const SassRequest& request, SassFindings& findings) {
  std::vector<std::size_t> everything(function.code.size());
  for (std::size_t i = 0; i < everything.size(); ++i) everything[i] = i;
  const std::vector<Loop> loops = find_loops(function);
  const Loop* loop = measured_loop(function, loops, request.use.sass);

  findings.sha256 = function.cubin_sha256;
  findings.whole = count_opcodes(function);
  findings.registers = function.registers;
  findings.stack_bytes = function.stack_bytes;
  const int local = matches(findings.whole, "LDL") + matches(findings.whole, "STL");
  findings.local_memory = local > 0;
  findings.calls = calls_in(function, everything);
  if (loop) {
    findings.loop_header = loop->header;
    findings.loop = count_opcodes(function, loop->body);
    findings.instruction = named_by(request.use.sass, findings.loop);
    for (const std::size_t i : loop->body) {
      char address[16];
      std::snprintf(address, sizeof address, "%04x  ", function.code[i].address);
      findings.loop_text += address + function.code[i].text() + "\n";
    }
  }

  if (request.target && function.arch != name(*request.target))
    findings.problems.push_back("the code is for " + function.arch + ", not " +
                                std::string(name(*request.target)));
  for (const SassRule& rule : request.use.sass) check_rule(rule, loop != nullptr, findings);
  if (findings.local_memory && !request.use.local_memory)
    findings.problems.push_back(std::to_string(local) + " instructions use local memory (stack " +
                                std::to_string(findings.stack_bytes) + " bytes, " +
                                std::to_string(findings.registers) +
                                " registers): spills or an array indexed at run time");
  if (!request.use.emulated)
    for (const std::string& callee : calls_in(function, loop ? loop->body : everything))
      findings.problems.push_back(std::string("the ") + (loop ? "loop" : "kernel") + " calls " +
                                  callee);
}

// Empty if the functions cannot all be disassembled.
std::vector<std::shared_ptr<const Function>> try_together(std::span<const SassRequest> requests) {
  std::vector<FunctionRef> refs;
  for (const SassRequest& request : requests) refs.push_back({request.elf, request.symbol});
  try {
    return disassemble(refs);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

OpcodeCount count_opcodes(const Function& function) {
  OpcodeCount census;
  for (const Instruction& instruction : function.code)
    if (counts(instruction)) ++census[instruction.opcode];
  return census;
}

OpcodeCount count_opcodes(const Function& function, const std::vector<std::size_t>& indices) {
  OpcodeCount census;
  for (const std::size_t i : indices)
    if (counts(function.code[i])) ++census[function.code[i].opcode];
  return census;
}

std::vector<SassFindings> check_sass(std::span<const SassRequest> requests) {
  const auto together = try_together(requests);
  std::vector<SassFindings> all(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    all[i].kernel = requests[i].symbol;
    all[i].target = requests[i].target.value_or(Target::host);
    try {
      const auto function =
          together.empty() ? disassemble(requests[i].elf, requests[i].symbol) : together[i];
      all[i].function = function;
      examine(*function, requests[i], all[i]);
    } catch (const Error& error) {
      all[i].problems.emplace_back(error.what());
    }
  }
  return all;
}

SassFindings check_sass(const SassRequest& request) {
  return check_sass(std::span(&request, 1)).front();
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/stages.hpp"

#include <algorithm>

namespace assay::sass {
namespace {

bool is_copy(const Instruction& instruction) {
  return instruction.is("LDGSTS") || is_bulk_copy(instruction) || instruction.is("UTCCP");
}

// Closes a group of asynchronous work of this kind, which is waited for by how many groups may be
// left.
bool closes_mma_group(const Instruction& instruction) {
  return is_warpgroup_mma(instruction) && instruction.operands.find("gsb") != std::string::npos;
}
bool closes_copy_group(const Instruction& instruction) {
  return instruction.is("LDGDEPBAR") || instruction.is("UTMACMDFLUSH");
}

std::string bracketed(const Instruction& instruction) {
  const std::size_t begin = instruction.operands.find('['),
                    end = instruction.operands.find(']',
                                                    std::min(begin, instruction.operands.size()));
  return begin == std::string::npos || end == std::string::npos
             ? instruction.operands
             : instruction.operands.substr(begin, end - begin + 1);
}

struct Boundary {
  StageKind kind;
  std::string what;
};

// What ends a stage of plain work.
std::optional<Boundary> boundary(const Instruction& instruction) {
  if (instruction.is("WARPGROUP.DEPBAR"))
    return Boundary{StageKind::wait, "groups of MMAs, " + instruction.operands};
  if (instruction.is("DEPBAR"))
    return Boundary{StageKind::wait, "groups of copies, " + instruction.operands};
  if (instruction.is("SYNCS.PHASECHK"))
    return Boundary{StageKind::wait, "mbarrier " + bracketed(instruction)};
  if (instruction.is("SYNCS.ARRIVE"))
    return Boundary{StageKind::signal, "mbarrier " + bracketed(instruction)};
  if (instruction.is("ARRIVES"))
    return Boundary{StageKind::signal, "mbarrier " + bracketed(instruction) + " by copies"};
  if (instruction.is("UTCBAR"))
    return Boundary{StageKind::signal, "mbarrier " + bracketed(instruction) + " by MMAs"};
  if (instruction.is("BAR"))
    return Boundary{
        StageKind::rendezvous,
        instruction.opcode + (instruction.operands.empty() ? "" : " ") + instruction.operands};
  return std::nullopt;
}

// The (left + 1)-th step back from `from` that closes a group.
template <class Closes>
std::optional<Producer> group_before(const Function& function, const std::vector<Step>& steps,
                                     std::size_t from, std::size_t left, const Closes& closes) {
  std::vector<std::size_t> closing;
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (closes(function.code[steps[s].index])) closing.push_back(s);
  if (closing.empty()) return std::nullopt;
  const auto before =
      static_cast<std::size_t>(std::ranges::lower_bound(closing, from) - closing.begin());
  if (left < before) return Producer{closing[before - left - 1], 0};
  const std::size_t back = left - before;  // into earlier iterations
  constexpr std::size_t kMostIterations = 64;
  if (back / closing.size() >= kMostIterations) return std::nullopt;
  return Producer{closing[closing.size() - 1 - back % closing.size()],
                  static_cast<int>(1 + back / closing.size())};
}

}  // namespace

std::string_view name(StageKind kind) {
  constexpr std::string_view kNames[] = {"work", "wait", "signal", "rendezvous"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Stage> stages_of(const Function& function, const Schedule& schedule,
                             const CostTable& table) {
  const std::vector<Step>& steps = schedule.steps;
  const auto counts = [&](const Instruction& instruction) {
    return !instruction.never_executes() && !instruction.is("NOP");
  };
  const auto add = [&](Counts& pipes, const Instruction& instruction) {
    if (counts(instruction)) ++pipes[std::string(table.cost(instruction).pipe->name)];
  };
  const auto issued_between = [&](const Producer& producer, std::size_t until) {
    Counts pipes;
    std::size_t s = producer.step;
    for (int ago = producer.iterations_ago; ago > 0 || s + 1 < until;) {
      if (++s == steps.size()) {
        s = static_cast<std::size_t>(-1);  // before the first step of the next iteration
        --ago;
        continue;
      }
      add(pipes, function.code[steps[s].index]);
    }
    return pipes;
  };
  std::vector<Stage> stages;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Instruction& instruction = function.code[steps[s].index];
    const auto found = instruction.never_executes() ? std::nullopt : boundary(instruction);
    const bool alone = found.has_value();
    // The branch on what try_wait found belongs to the wait.
    const bool closes_wait = s > 0 && instruction.is("BRA") && !instruction.predicate.empty() &&
                             function.code[steps[s - 1].index].is("SYNCS.PHASECHK") &&
                             !stages.empty();
    if (stages.empty() || alone || (stages.back().kind != StageKind::work && !closes_wait))
      stages.push_back({.kind = alone ? found->kind : StageKind::work,
                        .first = s,
                        .begin = std::max(steps[s].issue - steps[s].waited, 0.0),
                        .what = alone ? found->what : ""});
    Stage& stage = stages.back();
    stage.last = s;
    stage.end = s + 1 < steps.size() ? steps[s + 1].issue - steps[s + 1].waited : schedule.cycles;
    stage.waited += steps[s].waited;
    if (closes_wait) continue;
    if (alone) {
      const std::size_t number = instruction.operands.rfind("0x");
      const std::size_t left =
          number == std::string::npos
              ? 0
              : std::strtoul(instruction.operands.c_str() + number, nullptr, 16);
      if (instruction.is("WARPGROUP.DEPBAR"))
        stage.awaited = group_before(function, steps, s, left, closes_mma_group);
      if (instruction.is("DEPBAR"))
        stage.awaited = group_before(function, steps, s, left, closes_copy_group);
      if (!stage.awaited) continue;
      stage.since = issued_between(*stage.awaited, s);
    } else if (is_matrix(instruction)) {
      ++stage.matrix[instruction.opcode];
    } else if (is_copy(instruction)) {
      ++stage.copies[instruction.opcode];
    } else {
      add(stage.pipes, instruction);
    }
  }
  return stages;
}

}  // namespace assay::sass

// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "harness/sass/register_reads.hpp"

namespace assay::sass {
namespace {

constexpr std::string_view kIssue = "issue", kRegisters = "registers";

std::vector<OpcodeLoad> census(const Function& function, const std::vector<std::size_t>& path,
                               const CostTable& table) {
  std::map<std::string, OpcodeLoad> found;
  for (const std::size_t i : path) {
    const Instruction& instruction = function.code[i];
    if (instruction.never_executes() || instruction.is("NOP")) continue;
    OpcodeLoad& load = found[instruction.opcode];
    if (load.count++ == 0) {
      load.opcode = instruction.opcode;
      load.cost = table.cost(instruction);
    }
  }
  std::vector<OpcodeLoad> sorted;
  for (auto& [opcode, load] : found) sorted.push_back(std::move(load));
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const OpcodeLoad& load) { return load.count * load.cost.cycles; });
  return sorted;
}

std::vector<PipeLoad> pipe_loads(const std::vector<OpcodeLoad>& opcodes, std::size_t path,
                                 int warps) {
  std::map<std::string_view, PipeLoad> loads;
  const double of_scheduler = std::ceil(static_cast<double>(warps) / kSchedulers);
  const auto add = [&](std::string_view pipe, int instructions, double cycles, bool shared) {
    PipeLoad& load = loads[pipe];
    load.pipe = pipe;
    load.instructions += instructions;
    load.warp_cycles += cycles;
    load.cycles += cycles * (shared ? warps : of_scheduler);
  };
  add(kIssue, static_cast<int>(path), static_cast<double>(path), false);
  for (const OpcodeLoad& load : opcodes) {
    const Pipe& pipe = *load.cost.pipe;
    const double cycles = load.count * load.cost.cycles;
    add(pipe.name, load.count, cycles, pipe.shared);
    // A cycle of one half is half a cycle of the whole pipe.
    if (!pipe.whole.empty()) add(pipe.whole, load.count, cycles / 2, pipe.shared);
  }
  std::vector<PipeLoad> sorted;
  for (const auto& [pipe, load] : loads) sorted.push_back(load);
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &PipeLoad::cycles);
  return sorted;
}

// Of what every iteration executes, at what each instruction takes in any case.
std::vector<PipeLoad> least_loads(const Function& function, const std::vector<std::size_t>& always,
                                  const CostTable& table, int warps) {
  std::vector<OpcodeLoad> opcodes;
  for (const std::size_t i : always) {
    const Instruction& instruction = function.code[i];
    if (instruction.never_executes() || instruction.is("NOP")) continue;
    Cost cost = table.cost(instruction);
    cost.cycles = table.least_cycles(instruction);
    opcodes.push_back({instruction.opcode, 1, cost});
  }
  return pipe_loads(opcodes, always.size(), warps);
}

int stalls_of(const Function& function, const std::vector<std::size_t>& always) {
  int sum = 0;
  for (const std::size_t i : always) sum += std::max(control_code(function.code[i]).stall, 1);
  return sum;
}

// The banks of registers are a pipe too, which every instruction that reads passes through.
void add_registers(std::vector<PipeLoad>& pipes, double cycles, int warps) {
  if (cycles <= 0) return;
  const double of_scheduler = std::ceil(static_cast<double>(warps) / kSchedulers);
  const PipeLoad load{kRegisters, 0, cycles, cycles * of_scheduler};
  pipes.insert(
      std::ranges::upper_bound(pipes, load.cycles, std::ranges::greater{}, &PipeLoad::cycles),
      load);
}

std::vector<PipeLoad> sum(const std::vector<PartAnalysis>& parts,
                          std::vector<PipeLoad> PartAnalysis::*pipes) {
  std::map<std::string_view, PipeLoad> loads;
  for (const PartAnalysis& part : parts)
    for (const PipeLoad& load : part.*pipes) {
      PipeLoad& total = loads[load.pipe];
      total.pipe = load.pipe;
      total.instructions += load.instructions;
      total.warp_cycles += load.warp_cycles;
      total.cycles += load.cycles;
    }
  std::vector<PipeLoad> sorted;
  for (const auto& [pipe, load] : loads) sorted.push_back(load);
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &PipeLoad::cycles);
  return sorted;
}

// The order in which loops are worth a look: real work before waiting, matrix products first, then
// the deepest and the longest.
auto heat(const Function& function, const LoopPath& loop) {
  std::ptrdiff_t matrix = 0, length = 0;
  for (const LoopPart& part : loop.parts) {
    matrix += std::ranges::count_if(part.path,
                                    [&](std::size_t i) { return is_matrix(function.code[i]); });
    length += static_cast<std::ptrdiff_t>(part.path.size());
  }
  return std::tuple(!loop.spins, loop.innermost ? matrix : 0, loop.innermost, loop.depth, length);
}

LoopAnalysis analyse_loop(const Function& function, const LoopPath& shape, const CostTable& table,
                          int asked_warps) {
  LoopAnalysis loop{.shape = shape, .parts = {}, .pipes = {}};
  int known = 0;
  for (const LoopPart& part : shape.parts) known += std::max(std::popcount(part.who), 1);
  for (const LoopPart& part : shape.parts) {
    PartAnalysis analysis{.who = part.who, .warps = std::max(std::popcount(part.who), 1)};
    if (asked_warps > 0) analysis.warps = std::max(asked_warps * analysis.warps / known, 1);
    analysis.opcodes = census(function, part.path, table);
    analysis.pipes = pipe_loads(analysis.opcodes, part.path.size(), analysis.warps);
    add_registers(analysis.pipes, register_cycles(function, part.path), analysis.warps);
    analysis.schedule = estimate_schedule(function, part.path, table);
    analysis.least = least_loads(function, part.always, table, analysis.warps);
    analysis.least_stalls = stalls_of(function, part.always);
    loop.parts.push_back(std::move(analysis));
  }
  loop.pipes = sum(loop.parts, &PartAnalysis::pipes);
  const PipeLoad busiest = sum(loop.parts, &PartAnalysis::least).front();
  loop.least = {busiest.cycles, busiest.pipe};
  for (const PartAnalysis& part : loop.parts)
    if (part.least_stalls > loop.least.cycles)
      loop.least = {static_cast<double>(part.least_stalls), "one warp's stall counts"};
  return loop;
}

}  // namespace

std::string LoopAnalysis::assumed() const {
  constexpr std::string_view kShared[] = {"LDS", "STS", "LDSM", "STSM", "ATOMS"};
  std::string all = assumption(shape);
  const auto is_shared = [&](const OpcodeLoad& load) {
    const Instruction instruction{.opcode = load.opcode};
    return std::ranges::any_of(kShared, [&](auto name) { return instruction.is(name); });
  };
  if (std::ranges::any_of(parts, [&](const PartAnalysis& part) {
        return std::ranges::any_of(part.opcodes, is_shared);
      }))
    all += (all.empty() ? "" : ", ") + std::string("no bank conflicts in shared memory");
  return all;
}

int LoopAnalysis::warps() const {
  int sum = 0;
  for (const PartAnalysis& part : parts) sum += part.warps;
  return sum;
}

double LoopAnalysis::single_warp() const {
  double most = 0;
  for (const PartAnalysis& part : parts) most = std::max(most, part.schedule.cycles);
  return most;
}

KernelAnalysis analyse(std::shared_ptr<const Function> function, const CostTable& table,
                       const AnalysisOptions& options) {
  KernelAnalysis kernel{.function = function};
  if (options.warps > 0) {
    kernel.warps = options.warps;
    kernel.warps_known = "as asked";
  } else if (function->max_threads > 0) {
    kernel.warps = static_cast<int>((function->max_threads + 31) / 32);
    kernel.warps_known =
        fmt::format("one CTA of {} threads, its launch bounds", function->max_threads);
  } else {
    kernel.warps = kSchedulers;
    kernel.warps_known = "one for each scheduler, since the kernel has no launch bounds";
  }

  kernel.reach = reaching_warps(*function, kernel.warps);
  kernel.loops = loop_paths(*function, kernel.reach);

  std::vector<const LoopPath*> order;
  for (const LoopPath& loop : kernel.loops)
    if (!options.loop || loop.loop.header == *options.loop) order.push_back(&loop);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](const LoopPath* loop) { return heat(*function, *loop); });
  for (const LoopPath* loop : order) {
    if (kernel.hot.size() == options.hot || (loop->spins && !kernel.hot.empty())) break;
    kernel.hot.push_back(analyse_loop(*function, *loop, table, options.warps));
  }
  return kernel;
}

}  // namespace assay::sass

// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/report_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/code/cubin.hpp"
#include "harness/sass/stages.hpp"

namespace assay::sass {
namespace {

constexpr std::size_t kWidth = 120;  // columns

std::string rounded(double value) {
  return value < 9.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

// Items after `first`, on lines of kWidth that begin below it.
std::string wrapped(std::string first, const std::vector<std::string>& items) {
  const std::size_t indent = first.size();
  std::string text, line = std::move(first);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? ", " : "");
    if (line.size() > indent && line.size() + item.size() > kWidth) {
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      line.assign(indent, ' ');
    }
    line += item;
  }
  return text + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::vector<std::string> counted(const Counts& counts) {
  std::vector<std::string> items;
  for (const auto& [name, count] : counts) items.push_back(fmt::format("{} {}", count, name));
  return items;
}

// All loops, nested ones below the one around them.
std::string loops(const KernelAnalysis& kernel) {
  std::vector<const LoopPath*> order;
  for (const LoopPath& loop : kernel.loops) order.push_back(&loop);
  // A loop's place is that of the loops around it, from the outside in.
  const auto place = [&](const LoopPath* loop) {
    std::vector<std::size_t> headers;
    for (const LoopPath& outer : kernel.loops)
      if (std::ranges::binary_search(outer.loop.body, loop->loop.header))
        headers.push_back(outer.loop.header);
    std::ranges::sort(headers, {}, [&](std::size_t header) {
      const auto found =
          std::ranges::find(kernel.loops, header, [](const LoopPath& l) { return l.loop.header; });
      return std::pair(found->depth, header);
    });
    return headers;
  };
  std::ranges::stable_sort(order, {}, place);
  std::string text = "  loops\n";
  for (const LoopPath* loop : order) {
    Counts pipes;
    std::size_t length = 0;
    for (const LoopPart& part : loop->parts) {
      length += part.path.size();
      for (const std::size_t i : part.path) {
        const Instruction& instruction = kernel.function->code[i];
        if (!instruction.never_executes() && !instruction.is("NOP"))
          ++pipes[std::string(documented_pipe(instruction.opcode).name)];
      }
    }
    text += wrapped(fmt::format("  {:{}}{}  warps {}  {} instructions: ", "", 2 * loop->depth,
                                address_range(*kernel.function, *loop),
                                text_of(kernel.reach[loop->loop.header]), length),
                    loop->spins ? std::vector<std::string>{"waits"} : counted(pipes));
  }
  return text;
}

std::string pipe_table(const std::vector<PipeLoad>& pipes, const std::vector<OpcodeLoad>& opcodes,
                       int warps) {
  std::string text =
      fmt::format("  {:<9} {:>12} {:>12} {:>12}\n", "pipe", "instructions", "cycles/warp",
                  fmt::format("{} warp{}", warps, warps == 1 ? "" : "s"));
  for (const PipeLoad& load : pipes) {
    Counts mine;
    for (const OpcodeLoad& opcode : opcodes)
      if (opcode.cost.pipe->name == load.pipe) mine[opcode.opcode] = opcode.count;
    text += wrapped(fmt::format("  {:<9} {:>12} {:>12} {:>12}   ", load.pipe, load.instructions,
                                rounded(load.warp_cycles), rounded(load.cycles)),
                    counted(mine));
  }
  return text;
}

// Costs by where they come from.
std::string costs(const PartAnalysis& part) {
  std::map<std::pair<Basis, std::string>, std::vector<std::string>> groups;
  for (const OpcodeLoad& load : part.opcodes)
    groups[{load.cost.basis, load.cost.basis == Basis::assumed ? "" : load.cost.source}].push_back(
        fmt::format("{} {}", load.opcode, rounded(load.cost.cycles)));
  std::string text = "  cycles that each instruction keeps its pipe busy\n";
  for (const auto& [key, opcodes] : groups) {
    const auto& [basis, source] = key;
    const std::string title = basis == Basis::measured  ? "measured in " + source
                              : basis == Basis::related ? "taken from " + source
                              : basis == Basis::pipe ? "taken from another of its pipe, " + source
                              : basis != Basis::assumed ? "not measured: " + source
                                                        : "not measured: taken as one issue slot";
    text += wrapped("    " + title + ": ", opcodes);
  }
  return text;
}

std::string iterations_ago(int count) {
  return count == 0   ? "this iteration"
         : count == 1 ? "the iteration before"
                      : fmt::format("{} iterations before", count);
}

std::string stage_lines(const Function& function, const PartAnalysis& part,
                        const CostTable& table) {
  std::string text = "  stages of an iteration, in cycles of one warp alone\n";
  for (const Stage& stage : stages_of(function, part.schedule, table)) {
    const std::string when =
        fmt::format("  {:>6} ..{:>6}  ", rounded(stage.begin), rounded(stage.end));
    std::vector<std::string> items;
    if (stage.kind == StageKind::work) {
      for (const std::string& item : counted(stage.copies)) items.push_back("copies: " + item);
      for (const std::string& item : counted(stage.matrix)) items.push_back("MMAs: " + item);
      for (const std::string& item : counted(stage.pipes)) items.push_back(item);
    } else {
      items.push_back(fmt::format("{} {}",
                                  stage.kind == StageKind::wait     ? "waits for"
                                  : stage.kind == StageKind::signal ? "signals"
                                                                    : "meets at",
                                  stage.what));
      if (stage.awaited)
        items.push_back(fmt::format("closed at {} of {}",
                                    rounded(part.schedule.steps[stage.awaited->step].issue),
                                    iterations_ago(stage.awaited->iterations_ago)));
      if (stage.awaited && !stage.since.empty())
        items.push_back(fmt::format("since then issued: {}", fmt::join(counted(stage.since), " ")));
    }
    if (stage.waited > 0.5)
      items.push_back(fmt::format("{} cycles of waiting", rounded(stage.waited)));
    text += wrapped(when, items);
  }
  return text;
}

std::string listing_of(const Function& function, const PartAnalysis& part) {
  std::string text = "    issue  code  control              instruction\n";
  for (const Step& step : part.schedule.steps) {
    text += fmt::format("  {:>7}  {:04x}  {}  {}", rounded(step.issue),
                        function.code[step.index].address, text_of(step.control),
                        function.code[step.index].text());
    if (step.waited > 0.5) {
      text += fmt::format("   <- {} cycles for {}", rounded(step.waited), step.why);
      if (step.producer)
        text += fmt::format(" from {:04x}",
                            function.code[part.schedule.steps[step.producer->step].index].address);
      if (step.producer && step.producer->iterations_ago > 0)
        text += " of " + iterations_ago(step.producer->iterations_ago);
    }
    text += "\n";
  }
  return text;
}

std::string handshake_lines(const KernelAnalysis& kernel) {
  std::string text;
  for (const Handshake& handshake : handshakes(*kernel.function, kernel.reach)) {
    std::vector<std::string> items;
    for (const Handshake::Use& use : handshake.uses)
      items.push_back(
          fmt::format("warps {}: {} ({:04x})", text_of(use.who), use.does, use.address));
    text += wrapped(fmt::format("    {}  ", handshake.object), items);
  }
  return text.empty() ? "" : "  handshakes between warps\n" + text;
}

std::string loop_text(const KernelAnalysis& kernel, const LoopAnalysis& loop,
                      const CostTable& table, bool listing) {
  const Function& function = *kernel.function;
  std::string text = fmt::format(
      "\nloop {}, depth {}, {} warps an SM{}\n", address_range(function, loop.shape),
      loop.shape.depth, loop.warps(),
      loop.shape.off_path
          ? fmt::format("; {} of its instructions are off the likely path", loop.shape.off_path)
          : "");
  for (const PartAnalysis& part : loop.parts) {
    if (loop.parts.size() > 1) text += fmt::format(" warps {}\n", text_of(part.who));
    text += pipe_table(part.pipes, part.opcodes, part.warps);
    text += costs(part);
    text += stage_lines(function, part, table);
    text +=
        fmt::format("  one warp alone: {} cycles{}; its stall counts add up to {}\n",
                    rounded(part.schedule.cycles),
                    part.schedule.steady ? "" : " (iterations still differ)", part.schedule.stalls);
    if (listing) text += listing_of(function, part);
  }
  if (loop.parts.size() > 1) text += " all warps\n" + pipe_table(loop.pipes, {}, loop.warps());
  const std::string assumed = loop.assumed();
  text +=
      fmt::format("  predicted: {} cycles an iteration, bound by {}{}\n", rounded(loop.predicted()),
                  loop.bound_by(), assumed.empty() ? "" : "; assumed: " + assumed);
  text += fmt::format("  at least:  {} cycles, whichever way it takes, by {}\n",
                      rounded(loop.least.cycles), loop.least.by);
  if (loop.measured)
    text += fmt::format("  measured:  {} cycles in {}: {}\n  predicted / measured: {:.3f}\n",
                        rounded(loop.measured->cycles), loop.measured->name, loop.measured->how,
                        loop.predicted() / loop.measured->cycles);
  return text;
}

}  // namespace

std::string report_text(const KernelAnalysis& kernel, const CostTable& table, bool listing) {
  const Function& function = *kernel.function;
  std::string text = fmt::format(
      "{} for {}\n"
      "  {} registers, {} bytes of stack, {} instructions\n"
      "  {} warps an SM: {}\n"
      "  costs from {}\n",
      demangled(function.name), function.arch, function.registers, function.stack_bytes,
      function.code.size(), kernel.warps, kernel.warps_known, table.description(function.arch));
  if (kernel.loops.empty()) return text + "  no loop\n";
  text += loops(kernel) + handshake_lines(kernel);
  for (const LoopAnalysis& loop : kernel.hot) text += loop_text(kernel, loop, table, listing);
  return text;
}

}  // namespace assay::sass

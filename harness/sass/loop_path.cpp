// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/loop_path.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "harness/sass/loop_flow.hpp"

namespace assay::sass {
namespace {

bool jumps(const Instruction& instruction) {
  return instruction.is("BRA") || instruction.is("JMP") || instruction.is_jump_by_call();
}

LoopPart trace(const Function& function, const Loop& loop, const std::vector<std::size_t>& reached,
               WarpSet who) {
  const LoopFlow flow(function, loop, reached);
  LoopPart part{.who = who, .path = {}, .always = flow.every_iteration()};
  const auto calls_after = [&](std::size_t i) {
    return i == loop.header ? 0 : i < function.code.size() ? flow.calls_from(i) : LoopFlow::kNoWay;
  };
  std::vector<bool> inside(function.code.size()), visited(function.code.size());
  for (const std::size_t i : reached) inside[i] = true;
  const auto open = [&](std::size_t i) { return i < inside.size() && inside[i] && !visited[i]; };
  std::vector<std::size_t>& path = part.path;
  std::vector<std::size_t> passed_by;  // targets of branches not taken
  std::size_t at = loop.header;
  for (;;) {
    visited[at] = true;
    path.push_back(at);
    const Instruction& instruction = function.code[at];
    part.calls += is_call(instruction);
    const bool executes = !instruction.never_executes();
    const std::size_t target = instruction.target.value_or(0) / 16;
    const bool may_pass = !executes || is_conditional(instruction);
    std::optional<std::size_t> next;
    if (executes && jumps(instruction) && instruction.target) {
      if (may_pass && inside[std::min(at + 1, inside.size() - 1)]) {
        const bool around = open(target) && calls_after(target) < calls_after(at + 1);
        part.calls_avoided += around || calls_after(target) > calls_after(at + 1);
        part.open_branches += open(target) && calls_after(target) == calls_after(at + 1);
        next = around ? target : at + 1;
        if (!around) passed_by.push_back(target);
      } else {
        next = target;
      }
    } else if (!executes ||
               !(instruction.is("EXIT") || instruction.is("RET") || is_indirect(instruction)) ||
               may_pass) {
      next = at + 1;
    }
    if (next == loop.header) return part;
    // A dead end: a loop inside that ends in an unconditional branch back, or a table of targets.
    while ((!next || !open(*next)) && !passed_by.empty()) {
      next = passed_by.back();
      passed_by.pop_back();
    }
    if (!next || !open(*next)) return part;
    at = *next;
  }
}

// Warps that reach the same instructions of the loop take one path. Nothing is known to reach a
// loop in code that only a table leads to: then it is everybody's.
std::vector<LoopPart> parts_of(const Function& function, const Loop& loop,
                               const std::vector<WarpSet>& reach) {
  std::map<std::vector<std::size_t>, WarpSet> by_reached;
  for (int warp = 0; warp < 32; ++warp) {
    if (!(reach[loop.header] >> warp & 1)) continue;
    std::vector<std::size_t> reached;
    for (const std::size_t i : loop.body)
      if (reach[i] >> warp & 1) reached.push_back(i);
    by_reached[reached] |= WarpSet{1} << warp;
  }
  std::vector<LoopPart> parts;
  for (const auto& [reached, who] : by_reached)
    parts.push_back(trace(function, loop, reached, who));
  if (parts.empty()) parts.push_back(trace(function, loop, loop.body, 0));
  std::ranges::sort(parts, [](const LoopPart& a, const LoopPart& b) {
    return std::countr_zero(a.who) < std::countr_zero(b.who);
  });
  return parts;
}

// A few instructions that only ask whether something happened.
bool only_waits(const Function& function, const LoopPath& loop) {
  constexpr std::size_t kMost = 12;
  if (loop.loop.body.size() > kMost) return false;
  bool asks = false;
  for (const std::size_t i : loop.loop.body) {
    const Instruction& instruction = function.code[i];
    if (instruction.is("SYNCS.PHASECHK") || instruction.is("NANOSLEEP") ||
        instruction.opcode.find(".STRONG.") != std::string::npos || instruction.is("USETMAXREG") ||
        instruction.is("UTCATOMSWS"))
      asks = true;
    else if (instruction.is("STG") || instruction.is("STS") || instruction.is("ATOMG") ||
             instruction.is("MUFU") || instruction.is("LDS"))
      return false;
  }
  // A chase through memory loads with .STRONG too, but uses what it loads as the next address.
  return asks && std::ranges::count_if(loop.loop.body, [&](std::size_t i) {
                   return function.code[i].is("LDG") || function.code[i].is("SYNCS");
                 }) <= 2;
}

}  // namespace

std::vector<LoopPath> loop_paths(const Function& function, const std::vector<WarpSet>& reach) {
  std::vector<LoopPath> found;
  for (Loop& loop : find_loops(function)) {
    LoopPath shape{.loop = std::move(loop), .parts = {}};
    shape.parts = parts_of(function, shape.loop, reach);
    std::set<std::size_t> on_path;
    for (const LoopPart& part : shape.parts) on_path.insert(part.path.begin(), part.path.end());
    shape.off_path = shape.loop.body.size() - on_path.size();
    shape.spins = only_waits(function, shape);
    found.push_back(std::move(shape));
  }
  for (LoopPath& inner : found)
    for (LoopPath& outer : found)
      if (&inner != &outer && std::ranges::binary_search(outer.loop.body, inner.loop.header)) {
        ++inner.depth;
        if (!inner.spins) outer.innermost = false;
      }
  return found;
}

std::string assumption(const LoopPath& loop) {
  int avoided = 0, calls = 0, open = 0;
  for (const LoopPart& part : loop.parts) {
    avoided += part.calls_avoided;
    calls += part.calls;
    open += part.open_branches;
  }
  std::vector<std::string> said;
  if (avoided > 0)
    said.push_back(
        fmt::format("the call behind {} branch{} is not made", avoided, avoided == 1 ? "" : "es"));
  if (open > 0)
    said.push_back(fmt::format("{} branch{} forward {} not taken", open, open == 1 ? "" : "es",
                               open == 1 ? "is" : "are"));
  if (calls > 0)
    said.push_back(fmt::format("{} call{} cost{} nothing but the call", calls,
                               calls == 1 ? "" : "s", calls == 1 ? "s" : ""));
  return fmt::format("{}", fmt::join(said, ", "));
}

std::string address_range(const Function& function, const LoopPath& loop) {
  char text[32];
  std::size_t last = loop.loop.header;
  for (const LoopPart& part : loop.parts) last = std::max(last, part.path.back());
  std::snprintf(text, sizeof text, "%04x..%04x", function.code[loop.loop.header].address,
                function.code[last].address);
  return text;
}

}  // namespace assay::sass

// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/loop_path.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

namespace assay::sass {
namespace {

bool jumps(const Instruction& instruction) {
  return instruction.is("BRA") || instruction.is("JMP") || instruction.is_jump_by_call();
}

std::vector<std::size_t> trace(const Function& function, const Loop& loop,
                               const std::vector<std::size_t>& reached) {
  std::vector<bool> inside(function.code.size()), visited(function.code.size());
  for (const std::size_t i : reached) inside[i] = true;
  const auto open = [&](std::size_t i) { return i < inside.size() && inside[i] && !visited[i]; };
  std::vector<std::size_t> path, passed_by;  // passed_by: targets of branches not taken
  std::size_t at = loop.header;
  for (;;) {
    visited[at] = true;
    path.push_back(at);
    const Instruction& instruction = function.code[at];
    const bool executes = !instruction.never_executes();
    const std::size_t target = instruction.target.value_or(0) / 16;
    const bool may_pass = !executes || is_conditional(instruction);
    std::optional<std::size_t> next;
    if (executes && jumps(instruction) && instruction.target) {
      if (may_pass && inside[std::min(at + 1, inside.size() - 1)]) {
        next = at + 1;
        passed_by.push_back(target);
      } else {
        next = target;
      }
    } else if (!executes ||
               !(instruction.is("EXIT") || instruction.is("RET") || is_indirect(instruction)) ||
               may_pass) {
      next = at + 1;
    }
    if (next == loop.header) return path;
    // A dead end: a loop inside that ends in an unconditional branch back, or a table of targets.
    while ((!next || !open(*next)) && !passed_by.empty()) {
      next = passed_by.back();
      passed_by.pop_back();
    }
    if (!next || !open(*next)) return path;
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
    parts.push_back({who, trace(function, loop, reached)});
  if (parts.empty()) parts.push_back({0, trace(function, loop, loop.body)});
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

std::string address_range(const Function& function, const LoopPath& loop) {
  char text[32];
  std::size_t last = loop.loop.header;
  for (const LoopPart& part : loop.parts) last = std::max(last, part.path.back());
  std::snprintf(text, sizeof text, "%04x..%04x", function.code[loop.loop.header].address,
                function.code[last].address);
  return text;
}

}  // namespace assay::sass

// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/loop_flow.hpp"

#include <algorithm>
#include <deque>

namespace assay::sass {

bool is_call(const Instruction& instruction) {
  return instruction.is("CALL") && !instruction.is_jump_by_call();
}

LoopFlow::LoopFlow(const Function& function, const Loop& loop,
                   const std::vector<std::size_t>& reached)
    : function_(function),
      header_(loop.header),
      reached_(reached),
      next_(function.code.size()),
      calls_(function.code.size(), kNoWay) {
  std::vector<bool> inside(function.code.size() + 1);
  for (const std::size_t i : reached) inside[i] = true;
  const Joins joins(function.code);
  for (const std::size_t i : reached) {
    const Instruction& instruction = function.code[i];
    std::vector<std::size_t> to;
    bool falls_through = true;
    if (!instruction.never_executes()) {
      const bool jumps =
          instruction.is("BRA") || instruction.is("JMP") || instruction.is_jump_by_call();
      if (jumps && instruction.target) to.push_back(*instruction.target / 16);
      if (instruction.is("BSYNC")) to = joins.of(function.code, i);
      if (jumps || instruction.is("BSYNC") || instruction.is("EXIT") || instruction.is("RET") ||
          is_indirect(instruction))
        falls_through = is_conditional(instruction);
      // What only a table in memory tells: anywhere in the loop.
      if (is_indirect(instruction)) to = reached;
    }
    if (falls_through) to.push_back(i + 1);
    std::erase_if(to, [&](std::size_t at) { return at >= inside.size() || !inside[at]; });
    std::ranges::sort(to);
    to.erase(std::ranges::unique(to).begin(), to.end());
    next_[i] = std::move(to);
  }
  count_calls();
}

// Backwards from the header, those reached with fewer calls first.
void LoopFlow::count_calls() {
  std::vector<std::vector<std::size_t>> before(next_.size());
  for (const std::size_t i : reached_)
    for (const std::size_t to : next_[i]) before[to].push_back(i);
  std::deque<std::pair<std::size_t, std::size_t>> pending;  // instruction, calls behind it
  const auto arrive = [&](std::size_t at, std::size_t calls) {
    const Instruction& instruction = function_.code[at];
    const std::size_t own = is_call(instruction) && !is_conditional(instruction) ? 1 : 0;
    if (calls + own >= calls_[at]) return;
    calls_[at] = calls + own;
    if (own == 0)
      pending.emplace_front(at, calls_[at]);
    else
      pending.emplace_back(at, calls_[at]);
  };
  for (const std::size_t i : before[header_]) arrive(i, 0);
  while (!pending.empty()) {
    const auto [at, calls] = pending.front();
    pending.pop_front();
    if (at == header_ || calls > calls_[at]) continue;
    for (const std::size_t i : before[at]) arrive(i, calls);
  }
}

std::vector<std::size_t> LoopFlow::shortest_way() const {
  std::vector<std::size_t> from(next_.size(), kNoWay);
  std::deque<std::size_t> pending = {header_};
  while (!pending.empty()) {
    const std::size_t at = pending.front();
    pending.pop_front();
    for (const std::size_t to : next_[at]) {
      if (to == header_) {
        std::vector<std::size_t> way = {at};
        while (way.back() != header_) way.push_back(from[way.back()]);
        std::ranges::reverse(way);
        return way;
      }
      if (from[to] != kNoWay) continue;
      from[to] = at;
      pending.push_back(to);
    }
  }
  return {};
}

// An instruction on one way is on all if nothing before it, by ways that leave this one, reaches
// what comes behind it.
std::vector<std::size_t> LoopFlow::every_iteration() const {
  const std::vector<std::size_t> way = shortest_way();
  std::vector<std::size_t> place(next_.size(), kNoWay), found;
  for (std::size_t p = 0; p < way.size(); ++p) place[way[p]] = p;
  std::vector<bool> seen(next_.size());
  std::size_t farthest = 0;
  for (std::size_t p = 0; p < way.size(); ++p) {
    if (farthest <= p) found.push_back(way[p]);
    std::vector<std::size_t> pending = {way[p]};
    while (!pending.empty()) {
      const std::size_t at = pending.back();
      pending.pop_back();
      for (const std::size_t to : next_[at]) {
        if (to == header_) {
          farthest = std::max(farthest, way.size());
        } else if (place[to] != kNoWay) {
          farthest = std::max(farthest, place[to]);
        } else if (!seen[to]) {
          seen[to] = true;
          pending.push_back(to);
        }
      }
    }
  }
  return found;
}

}  // namespace assay::sass

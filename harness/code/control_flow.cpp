// SPDX-License-Identifier: Apache-2.0
#include "harness/code/control_flow.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace assay {
namespace {

// The graph has one node per instruction: functions are small, and there is nothing to translate
// back. Node `code.size()` is a root that leads to the entry and to every routine.
struct Graph {
  std::vector<std::vector<std::size_t>> successors, predecessors;
  std::size_t root() const { return successors.size() - 1; }
};

Graph build_graph(const Function& function) {
  const std::vector<Instruction>& code = function.code;
  const std::size_t count = code.size();
  Graph graph;
  graph.successors.resize(count + 1);
  graph.predecessors.resize(count + 1);
  const auto connect = [&](std::size_t from, std::size_t to) {
    if (to >= count) return;
    graph.successors[from].push_back(to);
    graph.predecessors[to].push_back(from);
  };
  const auto index_of = [](std::uint32_t address) { return std::size_t{address} / 16; };

  const Joins joins(code);
  connect(graph.root(), 0);
  for (const auto& [address, name] : function.routines) connect(graph.root(), index_of(address));
  for (std::size_t i = 0; i < count; ++i) {
    const Instruction& instruction = code[i];
    bool falls_through = true;
    if (!instruction.never_executes()) {
      if (instruction.is("BRA") || instruction.is("JMP") || instruction.is("WARPSYNC") ||
          instruction.is_jump_by_call()) {
        if (instruction.target) connect(i, index_of(*instruction.target));
        falls_through = instruction.is("WARPSYNC") || is_conditional(instruction);
      } else if (instruction.is("EXIT") || instruction.is("RET") || is_indirect(instruction)) {
        falls_through = is_conditional(instruction);
      } else if (instruction.is("BSYNC")) {
        for (const std::size_t join : joins.of(code, i)) connect(i, join);
        falls_through = is_conditional(instruction);
      }
    }
    if (falls_through) connect(i, i + 1);
  }

  // Jump tables are data: an indirect branch may go wherever nothing else leads.
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_indirect(code[i])) continue;
    for (std::size_t to = i + 1; to < count; ++to)
      if (graph.predecessors[to].empty()) connect(i, to);
  }
  return graph;
}

constexpr std::size_t kUnreached = static_cast<std::size_t>(-1);

// Immediate dominators, by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
struct Dominators {
  std::vector<std::size_t> immediate;  // kUnreached where the root does not lead
  std::vector<std::size_t> order;      // position in reverse postorder

  explicit Dominators(const Graph& graph)
      : immediate(graph.successors.size(), kUnreached), order(graph.successors.size(), kUnreached) {
    std::vector<std::size_t> postorder;
    std::vector<std::pair<std::size_t, std::size_t>> stack = {{graph.root(), 0}};
    std::vector<bool> seen(graph.successors.size());
    seen[graph.root()] = true;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == graph.successors[node].size()) {
        postorder.push_back(node);
        stack.pop_back();
        continue;
      }
      const std::size_t to = graph.successors[node][next++];
      if (!seen[to]) {
        seen[to] = true;
        stack.emplace_back(to, 0);
      }
    }
    const std::vector<std::size_t> nodes(postorder.rbegin(), postorder.rend());
    for (std::size_t i = 0; i < nodes.size(); ++i) order[nodes[i]] = i;

    immediate[graph.root()] = graph.root();
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::size_t node : nodes) {
        if (node == graph.root()) continue;
        std::size_t meet = kUnreached;
        for (const std::size_t from : graph.predecessors[node]) {
          if (immediate[from] == kUnreached) continue;
          meet = meet == kUnreached ? from : intersect(from, meet);
        }
        if (immediate[node] != meet) {
          immediate[node] = meet;
          changed = true;
        }
      }
    }
  }

  bool dominates(std::size_t above, std::size_t node) const {
    while (order[node] > order[above]) node = immediate[node];
    return node == above;
  }

 private:
  std::size_t intersect(std::size_t a, std::size_t b) const {
    while (a != b) {
      while (order[a] > order[b]) a = immediate[a];
      while (order[b] > order[a]) b = immediate[b];
    }
    return a;
  }
};

}  // namespace

Joins::Joins(const std::vector<Instruction>& code) {
  for (const Instruction& instruction : code)
    if (instruction.is("BSSY") && instruction.target)
      by_register_[instruction.operands.substr(0, instruction.operands.find(','))].push_back(
          std::size_t{*instruction.target} / 16);
}

std::vector<std::size_t> Joins::of(const std::vector<Instruction>& code, std::size_t i) const {
  const auto found = by_register_.find(code[i].operands);
  if (found == by_register_.end() || std::ranges::find(found->second, i + 1) != found->second.end())
    return {i + 1};
  return found->second;
}

bool is_conditional(const Instruction& branch) {
  if (!branch.predicate.empty() && branch.predicate != "@PT") return true;
  // "BRA.U UP0, 0x120" and "BRA.DIV UR4, 0x120" keep their condition among the operands.
  return branch.operands.find(',') != std::string::npos;
}

bool is_indirect(const Instruction& branch) {
  return branch.is("BRX") || branch.is("BRXU") || branch.is("JMX") || branch.is("JMXU");
}

std::vector<Loop> find_loops(const Function& function) {
  if (function.code.empty()) return {};
  const Graph graph = build_graph(function);
  const Dominators dominators(graph);

  std::map<std::size_t, std::set<std::size_t>> bodies;  // by header
  for (std::size_t latch = 0; latch < graph.root(); ++latch) {
    if (dominators.immediate[latch] == kUnreached) continue;
    for (const std::size_t header : graph.successors[latch]) {
      if (!dominators.dominates(header, latch)) continue;
      std::set<std::size_t>& body = bodies[header];
      body.insert(header);
      for (std::vector<std::size_t> pending = {latch}; !pending.empty();) {
        const std::size_t node = pending.back();
        pending.pop_back();
        if (!body.insert(node).second) continue;
        for (const std::size_t from : graph.predecessors[node])
          if (dominators.immediate[from] != kUnreached) pending.push_back(from);
      }
    }
  }
  std::vector<Loop> loops;
  for (const auto& [header, body] : bodies) loops.push_back({header, {body.begin(), body.end()}});
  return loops;
}

}  // namespace assay

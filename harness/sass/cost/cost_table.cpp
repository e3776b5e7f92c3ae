// SPDX-License-Identifier: Apache-2.0
#include "harness/sass/cost/cost_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

namespace assay::sass {
namespace {

// "FADD.FTZ" as FADD and FTZ.
std::vector<std::string_view> modifiers(std::string_view opcode) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0, end = 0; end < opcode.size() || parts.empty(); begin = end + 1) {
    end = std::min(opcode.find('.', begin), opcode.size());
    parts.push_back(opcode.substr(begin, end - begin));
  }
  return parts;
}

// Moves data between registers and memory or L1.
bool is_move(const Instruction& instruction) {
  constexpr std::string_view kMoves[] = {"LD",  "LDS", "LDSM", "LDG", "LDL",   "ST",
                                         "STS", "STG", "STSM", "STL", "LDGSTS"};
  const std::string base = instruction.opcode.substr(0, instruction.opcode.find('.'));
  return std::ranges::find(kMoves, base) != std::end(kMoves);
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

// "64x256x16", and "16816" or "8816" where N is 8.
std::optional<MatrixShape> shape_of(std::string_view text) {
  const std::size_t first = text.find('x');
  if (first != text.npos) {
    const std::size_t second = text.find('x', first + 1);
    if (second == text.npos) return std::nullopt;
    const auto m = number(text.substr(0, first));
    const auto n = number(text.substr(first + 1, second - first - 1));
    const auto k = number(text.substr(second + 1));
    if (!m || !n || !k) return std::nullopt;
    return MatrixShape{*m, *n, *k};
  }
  for (const int m : {16, 8}) {
    const std::string begin = std::to_string(m) + "8";
    if (!text.starts_with(begin)) continue;
    if (const auto k = number(text.substr(begin.size()))) return MatrixShape{m, 8, *k};
  }
  return std::nullopt;
}

// How many modifiers two opcodes begin with alike.
std::size_t common_modifiers(std::string_view a, std::string_view b) {
  const std::vector<std::string_view> of_a = modifiers(a), of_b = modifiers(b);
  const auto end = std::ranges::mismatch(of_a, of_b);
  return static_cast<std::size_t>(end.in1 - of_a.begin());
}

// HGMMA D, descriptor of A, ... or, with A in registers, HGMMA D, A, descriptor of B, ...
bool takes_a_from_registers(const Instruction& instruction) {
  const std::size_t comma = instruction.operands.find(", ");
  return comma != std::string::npos && instruction.operands.substr(comma + 2).starts_with('R');
}

}  // namespace

std::string_view name(Basis basis) {
  constexpr std::string_view kNames[] = {"measured",   "related",   "pipe",
                                         "documented", "unchecked", "assumed"};
  return kNames[static_cast<std::size_t>(basis)];
}

std::optional<MatrixShape> matrix_shape(std::string_view opcode) {
  for (const std::string_view part : modifiers(opcode))
    if (!part.empty() && std::isdigit(static_cast<unsigned char>(part[0])))
      if (const auto shape = shape_of(part)) return shape;
  return std::nullopt;
}

double bytes_of_warp(std::string_view opcode) {
  constexpr double kLanes = 32;
  const std::vector<std::string_view> parts = modifiers(opcode);
  const auto has = [&](std::string_view part) {
    return std::ranges::find(parts, part) != parts.end();
  };
  if (parts.front() == "LDSM" || parts.front() == "STSM")  // 8x8 matrices of 128 bytes
    return 128 * (has("4") ? 4 : has("2") ? 2 : 1);
  for (const int bits : {256, 128, 64})
    if (has(std::to_string(bits)) || has("ENL2." + std::to_string(bits))) return kLanes * bits / 8;
  return kLanes * 4;
}

std::string CostTable::description(std::string_view arch) const {
  if (file_.empty())
    return fmt::format("no measured result for {}: documented and assumed rates alone", arch_);
  return fmt::format("{} ({}, {}{})", file_.string(), gpu_.empty() ? "no GPU" : gpu_, arch_,
                     arch.starts_with(arch_) ? "" : ": of another architecture than the kernel");
}

const Pipe& CostTable::pipe_of(const std::string& opcode) const {
  for (std::string known = opcode;; known.erase(known.rfind('.'))) {
    const auto found = pipes_.find(known);
    if (found != pipes_.end()) return *found->second;
    if (known.find('.') == std::string::npos) return documented_pipe(opcode);
  }
}

// Of the same instruction, the row whose modifiers begin most alike, and of those the plainest:
// IMAD.MOV is like IMAD, not like IMAD.HI.
const std::pair<const std::string, CostTable::Row>* CostTable::related(
    const std::string& opcode, std::optional<double> Row::*field) const {
  const std::string base = opcode.substr(0, opcode.find('.'));
  const std::pair<const std::string, Row>* best = nullptr;
  const auto likeness = [&](const std::string& other) {
    return std::pair(common_modifiers(other, opcode), -static_cast<int>(modifiers(other).size()));
  };
  for (auto row = rows_.lower_bound(base); row != rows_.end() && row->first.starts_with(base);
       ++row) {
    const bool same = row->first.size() == base.size() || row->first[base.size()] == '.';
    if (!same || !(row->second.*field)) continue;
    if (!best || likeness(row->first) > likeness(best->first)) best = &*row;
  }
  return best;
}

// Loads and stores by their width, at the bandwidth measured for the widest: no bank conflicts, all
// bytes of a line used, everything found in L1.
std::optional<Cost> CostTable::memory_cost(const Instruction& instruction, const Pipe& pipe) const {
  if (!is_move(instruction)) return std::nullopt;
  const std::string base = instruction.opcode.substr(0, instruction.opcode.find('.'));
  const bool is_shared = base.find('S', 1) != std::string::npos;  // LDS, LDSM, STS, STSM, LDGSTS
  for (const auto& [opcode, row] : rows_) {
    if (!row.cycles || !Instruction{.opcode = opcode}.is(is_shared ? "LDS" : "LDG")) continue;
    const double cycles = *row.cycles * bytes_of_warp(instruction.opcode) / bytes_of_warp(opcode);
    const bool same = opcode == instruction.opcode;
    return Cost{&pipe, std::max(cycles, 1.0), same ? Basis::measured : Basis::related,
                same ? row.cycles_source : fmt::format("{} in {}", opcode, row.cycles_source)};
  }
  return std::nullopt;
}

// Between measured N the cost is interpolated; beyond the largest it is proportional.
std::optional<Cost> CostTable::warpgroup_cost(const Instruction& instruction,
                                              const Pipe& pipe) const {
  const auto shape = matrix_shape(instruction.opcode);
  if (!shape) return std::nullopt;
  const std::string wanted = fmt::format("{}x{}x{}", shape->m, shape->n, shape->k);
  const bool rs = takes_a_from_registers(instruction);
  std::map<int, const std::pair<const std::string, Row>*> by_n;
  for (const bool exact : {true, false}) {  // else the other operand source
    for (const auto& row : rows_) {
      const auto other = matrix_shape(row.first.substr(0, row.first.find(' ')));
      if (!other || !row.second.cycles || row.first.ends_with(" rs") != (exact == rs)) continue;
      std::string same = instruction.opcode;
      same.replace(same.find(wanted), wanted.size(),
                   fmt::format("{}x{}x{}", shape->m, other->n, shape->k));
      if (row.first.substr(0, row.first.find(' ')) == same) by_n[other->n] = &row;
    }
    if (!by_n.empty()) break;
  }
  if (by_n.empty()) return std::nullopt;
  const auto above = by_n.lower_bound(shape->n);
  const auto cost = [&](double cycles, const std::string& source, Basis basis) {
    return Cost{&pipe, cycles, basis, source};
  };
  const auto cycles = [](const auto& entry) { return *entry.second->second.cycles; };
  const auto source = [](const auto& entry) { return entry.second->second.cycles_source; };
  if (above != by_n.end() && above->first == shape->n) {
    const bool same_source = above->second->first.ends_with(" rs") == rs;
    return cost(cycles(*above), source(*above), same_source ? Basis::measured : Basis::related);
  }
  if (above == by_n.end()) {
    const auto& last = *by_n.rbegin();
    return cost(cycles(last) * shape->n / last.first, "N in proportion to " + source(last),
                Basis::related);
  }
  if (above == by_n.begin())
    return cost(cycles(*above), "at most " + source(*above), Basis::related);
  const auto below = std::prev(above);
  const double share = static_cast<double>(shape->n - below->first) / (above->first - below->first);
  return cost(cycles(*below) + share * (cycles(*above) - cycles(*below)),
              fmt::format("N between {} and {}", source(*below), source(*above)), Basis::related);
}

Cost CostTable::cost(const Instruction& instruction) const {
  const Pipe& pipe = pipe_of(instruction.opcode);
  if (is_warpgroup_mma(instruction))
    if (const auto cost = warpgroup_cost(instruction, pipe)) return *cost;
  const auto exact = rows_.find(instruction.opcode);
  if (exact != rows_.end() && exact->second.cycles)
    return {&pipe, *exact->second.cycles, Basis::measured, exact->second.cycles_source};
  if (const auto cost = memory_cost(instruction, pipe)) return *cost;

  if (const auto* row = related(instruction.opcode, &Row::cycles)) {
    const auto mine = matrix_shape(instruction.opcode), other = matrix_shape(row->first);
    const double scale = mine && other ? mine->flop() / other->flop() : 1;
    return {&pipe, *row->second.cycles * scale, Basis::related,
            fmt::format("{} in {}", row->first, row->second.cycles_source)};
  }
  // Within a pipe of simple instructions most take as long as the fastest.
  if (!is_matrix(instruction) && pipe.name != "other" && !pipe.shared) {
    const std::pair<const std::string, Row>* fastest = nullptr;
    for (const auto& row : rows_)
      if (row.second.cycles && &pipe_of(row.first) == &pipe &&
          (!fastest || *row.second.cycles < *fastest->second.cycles))
        fastest = &row;
    if (fastest)
      return {&pipe, *fastest->second.cycles, Basis::pipe,
              fmt::format("{} in {}", fastest->first, fastest->second.cycles_source)};
  }
  if (const auto rate = documented_rate(instruction.opcode, pipe, arch_))
    return {&pipe, 32 * (pipe.shared ? 1 : 4) / rate->threads,
            rate->checked ? Basis::documented : Basis::unchecked,
            fmt::format("{} threads per clock and SM, {}", rate->threads,
                        rate->checked ? "NVIDIA's table of throughputs"
                                      : "not checked: not found in NVIDIA's table of throughputs")};
  return {&pipe, kAssumedCycles / (pipe.shared ? 4 : 1), Basis::assumed, "one issue slot"};
}

double CostTable::least_cycles(const Instruction& instruction) const {
  if (!instruction.predicate.empty() && instruction.predicate != "@PT") return 0;
  const Cost known = cost(instruction);
  if (known.basis >= Basis::documented) return 0;
  if (is_move(instruction)) return std::min(known.cycles, 1.0);
  return known.basis == Basis::measured ? std::floor(known.cycles * 4) / 4 : 0;
}

Latency CostTable::latency(const Instruction& instruction) const {
  const auto exact = rows_.find(instruction.opcode);
  if (exact != rows_.end() && exact->second.latency)
    return {*exact->second.latency, Basis::measured, exact->second.latency_source};
  if (const auto* row = related(instruction.opcode, &Row::latency))
    return {*row->second.latency, Basis::related,
            fmt::format("{} in {}", row->first, row->second.latency_source)};
  const Pipe& pipe = pipe_of(instruction.opcode);
  const std::pair<const std::string, Row>* least = nullptr;
  if (!is_matrix(instruction) && pipe.name != "other")
    for (const auto& row : rows_)
      if (row.second.latency && &pipe_of(row.first) == &pipe &&
          (!least || *row.second.latency < *least->second.latency))
        least = &row;
  if (least)
    return {*least->second.latency, Basis::pipe,
            fmt::format("{} in {}", least->first, least->second.latency_source)};
  return {kAssumedLatency, Basis::assumed, "a guess"};
}

}  // namespace assay::sass

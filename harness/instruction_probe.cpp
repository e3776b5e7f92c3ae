// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction_probe.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <random>

#include "harness/element.hpp"
#include "harness/generated_kernel.hpp"
#include "harness/instruction_ptx.hpp"

namespace assay {
namespace {

constexpr const char* kThroughput = "throughput";
constexpr const char* kLatency = "latency";
constexpr int kCheckedIterations = 2;  // few enough for sums to be exact in every format

int register_bits(const Operand& operand) { return operand.reg.ends_with("64") ? 64 : 32; }

double start_of(const InstructionRow& row, int chain) { return row.d0 + chain; }

// What `in` holds, in the order instruction_ptx.cpp documents. With `random`, inputs are drawn from
// it; without, all elements of an input are alike, for checking.
std::vector<std::uint64_t> inputs_of(const InstructionRow& row, const KernelShape& shape,
                                     std::mt19937_64* random) {
  const int threads = shape.warps * 32;
  std::vector<std::uint64_t> slots;
  for (int chain = 0; chain < shape.chains; ++chain)
    slots.insert(slots.end(), static_cast<std::size_t>(row.chain.count * threads),
                 pack(row.chain.element, register_bits(row.chain), start_of(row, chain)));
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    const Operand& input = row.inputs[i];
    const double alike = input.fixed.value_or(i == 0 ? row.a : row.b);
    const double reach = input.element[0] == 's' ? 127 : 1;
    std::uniform_real_distribution<double> spread(-reach, reach);
    for (int j = 0; j < input.count * threads; ++j)
      slots.push_back(random && !input.fixed ? pack(input.element, register_bits(input),
                                                    [&] { return spread(*random); })
                                             : pack(input.element, register_bits(input), alike));
  }
  return slots;
}

void check_values(State& s, const InstructionRow& row, const KernelShape& shape,
                  const std::vector<std::uint64_t>& out) {
  std::size_t slot = 0;
  for (int chain = 0; chain < shape.chains; ++chain)
    for (int i = 0; i < row.chain.count; ++i) {
      double expected = start_of(row, chain);
      for (int n = 0; n < kCheckedIterations * shape.unroll; ++n)
        expected = row.step(expected, row.a, row.b, i);
      for (int thread = 0; thread < shape.warps * 32; ++thread, ++slot) {
        const double found = unpack(row.chain.element, out[slot]);
        s.require(
            std::abs(found - expected) <= row.tolerance * std::abs(expected),
            fmt::format("chain {} of {} ended with {}, not {}", chain, row.name, found, expected));
      }
    }
}

// An emulated instruction takes many registers and instructions: fewer copies of it fit.
KernelShape throughput_shape(const InstructionRow& row, Target target) {
  if (row.emulated && row.emulated(target)) return {row.warps, 2, 4, true};
  return {row.warps, row.chains, row.unroll, false};
}
KernelShape latency_shape(const InstructionRow& row, Target target) {
  if (row.emulated && row.emulated(target)) return {1, 1, 8, true};
  return {1, 1, 64, false};
}

void run_row(State& s, const InstructionRow& row) {
  const KernelShape shape = throughput_shape(row, s.target());
  const double copies = shape.warps * shape.chains * shape.unroll;
  s.cycles({.flop = row.flop * copies,
            .ops = row.ops * copies,
            .limit = row.limit ? row.limit(s.target()) : Limit{}},
           prepare_row(s, row, shape, kThroughput));
  const KernelShape chain = latency_shape(row, s.target());
  s.cycles({.steps = static_cast<double>(chain.unroll)}, prepare_row(s, row, chain, kLatency));
}

}  // namespace

KernelUse row_kernel(const InstructionRow& row, const KernelShape& shape, const std::string& entry,
                     Target target) {
  KernelUse use{.kernel = entry,
                .sass = row.sass(target),
                .ptx = instruction_ptx(row, shape, entry, target),
                .emulated = shape.entangle};
  const int copies = shape.chains * shape.unroll;
  for (SassRule& rule : use.sass) {
    rule.at_least *= copies;
    if (rule.at_most != INT_MAX) rule.at_most *= copies;
  }
  return use;
}

std::function<void(const Launch&)> prepare_row(State& s, const InstructionRow& row,
                                               const KernelShape& shape, const std::string& entry) {
  const auto threads = static_cast<std::size_t>(shape.warps * 32);
  const std::vector<std::uint64_t> alike = inputs_of(row, shape, nullptr);
  const std::size_t out_slots = static_cast<std::size_t>(shape.chains * row.chain.count) * threads;
  const GeneratedKernel kernel(s, entry, shape.warps * 32, alike.size() * 8, out_slots * 8);
  kernel.set_inputs(alike);
  check_values(s, row, shape, kernel.outputs_after<std::uint64_t>(kCheckedIterations));
  std::mt19937_64 random(s.seed());
  if (row.random_data) kernel.set_inputs(inputs_of(row, shape, &random));
  return kernel.on_every_sm();
}

Probe instruction_probe(Probe probe, const std::vector<InstructionRow>& rows, bool sustained) {
  auto table = std::make_shared<std::map<std::string, InstructionRow>>();
  probe.cases.clear();
  for (const InstructionRow& row : rows) {
    Params params = row.params;
    params["state"] = std::string("burst");
    probe.cases.push_back({row.name, params, row.targets, row.suite});
    (*table)[row.name] = row;
    if (!sustained) continue;
    params["state"] = std::string("sustained");
    probe.cases.push_back({row.name + "/sustained", params, row.targets, Suite::full});
    (*table)[row.name + "/sustained"] = row;
  }
  probe.kernels = [table](const Case& c, Target target) {
    const InstructionRow& row = table->at(c.name);
    return std::vector<KernelUse>{
        row_kernel(row, throughput_shape(row, target), kThroughput, target),
        row_kernel(row, latency_shape(row, target), kLatency, target)};
  };
  probe.run = [table](State& s) { run_row(s, table->at(s.which().name)); };
  return probe;
}

}  // namespace assay

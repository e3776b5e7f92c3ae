// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/row_values.hpp"

#include <fmt/format.h>

#include <cmath>

#include "harness/element.hpp"
#include "harness/instruction/row_ptx.hpp"

namespace assay {

void append_inputs(const InstructionRow& row, const KernelShape& shape, std::mt19937_64* random,
                   std::vector<std::uint64_t>& slots) {
  const int threads = shape.warps * 32;
  for (int chain = 0; chain < shape.chains && !row.chain.uniform; ++chain)
    slots.insert(slots.end(), static_cast<std::size_t>(row.chain.count * threads),
                 chain_start(row, chain));
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    const Operand& input = row.inputs[i];
    if (input.uniform) continue;
    const std::uint64_t alike = input_bits(row, i);
    const double reach = is_integer(input.element) ? 127 : 1;
    std::uniform_real_distribution<double> spread(-reach, reach);
    for (int j = 0; j < input.count * threads; ++j)
      slots.push_back(random && !input.fixed ? pack(input.element, register_bits(input),
                                                    [&] { return spread(*random); })
                                             : alike);
  }
}

namespace {

// Register `i` of a chain after `steps` executions: what it holds, or the value of its elements.
std::uint64_t expected_bits(const InstructionRow& row, int chain, int i, int steps) {
  std::uint64_t d = chain_start(row, chain);
  for (int n = 0; n < steps; ++n) d = row.step_bits(d, input_bits(row, 0), input_bits(row, 1), i);
  return d;
}
double expected_value(const InstructionRow& row, int chain, int i, int steps) {
  double d = row.d0 + chain;
  for (int n = 0; n < steps; ++n) d = row.step(d, row.a, row.b, i);
  return d;
}

}  // namespace

std::string wrong_values(const InstructionRow& row, const KernelShape& shape,
                         const std::vector<std::uint64_t>& out, std::size_t& slot) {
  std::string wrong;
  const int steps = kCheckedIterations * shape.unroll, bits = register_bits(row.chain);
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  for (int chain = 0; chain < shape.chains; ++chain)
    for (int i = 0; i < row.chain.count; ++i) {
      const std::uint64_t exact = row.step_bits ? expected_bits(row, chain, i, steps) & mask : 0;
      const double value = row.step_bits ? 0 : expected_value(row, chain, i, steps);
      for (int thread = 0; thread < shape.warps * 32; ++thread, ++slot) {
        if (row.step_bits) {
          if ((out[slot] & mask) != exact && wrong.empty())
            wrong = fmt::format("chain {} of {} ended with {:#x}, not {:#x}", chain, row.name,
                                out[slot] & mask, exact);
          continue;
        }
        const double found = unpack(row.chain.element, out[slot]);
        if (!(std::abs(found - value) <= row.tolerance * std::abs(value)) && wrong.empty())
          wrong =
              fmt::format("chain {} of {} ended with {}, not {}", chain, row.name, found, value);
      }
    }
  return wrong;
}

}  // namespace assay

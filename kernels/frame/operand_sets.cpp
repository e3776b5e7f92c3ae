// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/operand_sets.hpp"

#include <utility>

#include "harness/device.hpp"
#include "harness/element.hpp"
#include "kernels/frame/fill.hpp"

namespace assay::kernels {

Operand uniform_bf16(std::size_t count) {
  constexpr std::size_t kBytes = 2;
  return {.bytes = count * kBytes,
          .fill = [count](void* data, std::uint64_t seed, cudaStream_t stream) {
            fill_uniform_bf16(data, count, seed, stream);
          }};
}

Operand normal(const std::string& type, std::size_t count) {
  return {.bytes = count * static_cast<std::size_t>(element_bits(type)) / 8,
          .fill = [=](void* data, std::uint64_t seed, cudaStream_t stream) {
            fill_normal(type, data, count, seed, stream);
          }};
}

Operand factors(std::size_t count) {
  return {.bytes = count * sizeof(float),
          .fill = [=](void* data, std::uint64_t seed, cudaStream_t stream) {
            fill_factors(data, count, seed, stream);
          }};
}

Operand bytes(std::size_t count) {
  return {.bytes = count, .fill = [=](void* data, std::uint64_t seed, cudaStream_t stream) {
            fill_bytes(data, count, seed, stream);
          }};
}

int sets_beyond_l2(std::uint64_t l2_bytes, std::size_t set_bytes) {
  return static_cast<int>(2 + 2 * l2_bytes / set_bytes);
}

OperandSets::OperandSets(State& state, std::vector<Operand> operands)
    : stream_(state.stream()), operands_(std::move(operands)) {
  std::size_t set_bytes = 0;
  for (const Operand& operand : operands_) set_bytes += operand.bytes;
  std::uint64_t seed = state.seed();
  sets_.resize(static_cast<std::size_t>(sets_beyond_l2(state.device().l2_bytes, set_bytes)));
  for (int set = 0; set < count(); ++set) {
    for (const Operand& operand : operands_) {
      void* data = state.allocate(operand.bytes);
      sets_[static_cast<std::size_t>(set)].push_back(data);
      if (operand.fill) operand.fill(data, seed++, stream_);
    }
    poison_outputs(set);
  }
}

void OperandSets::poison_outputs(int set) const {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!operands_[i].fill) poison((*this)[set][i], operands_[i].bytes, stream_);
  }
}

}  // namespace assay::kernels

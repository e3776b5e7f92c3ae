// SPDX-License-Identifier: Apache-2.0
// Tensor memory: 128 lanes of 512 columns of 32 bits in each CTA. PTX ISA 9.0, 9.7.16.1 "Tensor
// Memory".
#pragma once
#include <cstdint>

namespace assay::model {

inline constexpr int kTensorLanes = 128, kTensorColumns = 512;

struct TensorCell {
  int lane, column;
  bool operator==(const TensorCell&) const = default;
};

// 9.7.16.1.1 "Tensor Memory Addressing": the lane in the upper half, the column in the lower one.
constexpr TensorCell tensor_cell(std::uint32_t address) {
  return {.lane = static_cast<int>(address >> 16), .column = static_cast<int>(address & 0xffff)};
}
constexpr std::uint32_t tensor_address(TensorCell cell) {
  return static_cast<std::uint32_t>(cell.lane) << 16 | static_cast<std::uint32_t>(cell.column);
}

}  // namespace assay::model

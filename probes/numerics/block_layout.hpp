// SPDX-License-Identifier: Apache-2.0
// Where the elements of one MMA's operands lie in its block of memory (MmaPtx).
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "harness/numerics/float_format.hpp"
#include "probes/numerics/mma_instruction.hpp"

namespace assay::numerics {

using Block = std::vector<std::byte>;  // the operands of one MMA, or its result

class BlockLayout {
 public:
  explicit BlockLayout(const MmaInstruction& instruction);

  Block empty_block() const;  // all zeros, with room for C

  // Puts the bits of one element where the documents say it belongs, or into a register.
  void put(std::span<std::byte> block, Operand operand, Position position, Bits bits) const;
  void put_slot(std::span<std::byte> block, Operand operand, Slot slot, Bits bits) const;
  // An element of D in the registers of one MMA's result, likewise.
  Bits get(std::span<const std::byte> result, Position position) const;
  Bits get_slot(std::span<const std::byte> result, Slot slot) const;

 private:
  std::size_t offset(Operand operand, Slot slot) const;
  std::size_t place(Operand operand, Position position) const;

  MmaInstruction instruction_;
  std::size_t operand_bytes_;
  std::vector<std::size_t> places_[3];  // of A, B and C: [row][column]
};

}  // namespace assay::numerics

// SPDX-License-Identifier: Apache-2.0
// Runs one MMA instruction on operands of the caller's choice, each MMA by itself.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/generated_kernel.hpp"
#include "harness/state.hpp"
#include "probes/numerics/mma_instruction.hpp"
#include "probes/numerics/mma_model.hpp"

namespace assay::numerics {

// The kernel behind MmaRunner: `entry` in Probe::kernels.
KernelUse single_mma_kernel(const MmaInstruction& instruction, const std::string& entry,
                            Target target);

class MmaRunner {
 public:
  MmaRunner(State& s, const MmaInstruction& instruction, const std::string& entry);

  // Bytes of the operands of one MMA, MmaPtx::block_bytes() of them.
  using Block = std::vector<std::byte>;
  Block empty_block() const;
  // Puts the bits of one element where the documents say it belongs, or into a register.
  void put(Block& block, Operand operand, Position position, Bits bits) const;
  void put_slot(Block& block, Operand operand, Slot slot, Bits bits) const;

  // D of each MMA: [mma][row][column], by the documented positions, or [mma][register][thread] as
  // the registers were.
  std::vector<std::vector<Bits>> results(const std::vector<Block>& blocks) const;
  std::vector<std::byte> registers(const std::vector<Block>& blocks) const;
  Bits element(std::span<const std::byte> result, Slot slot) const;  // of one MMA's registers

  // Every row of A and every column of B holds the dot product's factors, so every element of D
  // must be the same: fails the case where one is not.
  std::vector<Bits> dots(const std::vector<Dot>& dots) const;

 private:
  std::size_t offset(Operand operand, Slot slot) const;

  State& s_;
  MmaInstruction instruction_;
  GeneratedKernel kernel_;
  // Where in a block each element of A, B and C lies, [row][column]; D is C's, less operand_bytes.
  std::vector<std::size_t> places_[3];
};

}  // namespace assay::numerics

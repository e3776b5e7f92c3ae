// SPDX-License-Identifier: Apache-2.0
// Runs one MMA instruction on operands of the caller's choice, each MMA by itself.
#pragma once
#include <string>
#include <vector>

#include "harness/instruction/generated_kernel.hpp"
#include "harness/numerics/mma_model.hpp"
#include "harness/state.hpp"
#include "probes/numerics/block_layout.hpp"

namespace assay::numerics {

// The kernel behind MmaRunner: `entry` in Probe::kernels.
KernelUse single_mma_kernel(const MmaInstruction& instruction, const std::string& entry,
                            Target target);

class MmaRunner {
 public:
  MmaRunner(State& s, const MmaInstruction& instruction, const std::string& entry);

  const BlockLayout& layout() const { return layout_; }

  // The registers of D of each MMA, to be read through layout().
  std::vector<Block> run(const std::vector<Block>& blocks) const;

  // Every row of A and every column of B holds the dot product's factors, so every element of D
  // must be the same: fails the case where one is not.
  std::vector<Bits> dots(const std::vector<Dot>& dots) const;

 private:
  State& s_;
  MmaInstruction instruction_;
  BlockLayout layout_;
  GeneratedKernel kernel_;
};

}  // namespace assay::numerics

// SPDX-License-Identifier: Apache-2.0
// The operands that block-scaled products are measured on, and cuBLASLt on the same.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "kernels/baselines/baseline.hpp"
#include "kernels/frame/operand_sets.hpp"
#include "kernels/gemm_block_scaled/gemm_block_scaled.hpp"

namespace assay::kernels {

// D, A, B, the scales of A and those of B; and one set of them by the kernel's names.
std::vector<Operand> block_scaled_operands(const BlockScaledProblem& problem);
BlockScaledOperands block_scaled_operands_of(std::span<void* const> set);

// cuBLASLt's mode of the same scales. Throws Error(unfit) where it has none.
std::unique_ptr<Baseline> open_block_scaled_cublaslt(const BlockScaledProblem& problem,
                                                     const std::vector<BlockScaledOperands>& sets);

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// What cases of the matrix product have in common: their operands, their check, and cuBLASLt.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/probe.hpp"
#include "kernels/baselines/baseline.hpp"
#include "kernels/frame/operand_sets.hpp"
#include "kernels/gemm/gemm.hpp"

namespace assay::kernels {

// A problem as a case's parameters, and back. "epilogue" is "none", "alpha_beta", "bias",
// "bias_gelu", "bias_gelu_tanh" or "bias_silu"; "scaling" is "none", "tensor" or "row".
Params params_of(const GemmProblem& problem);
GemmProblem problem_of(const Case& c);
// "none" and so on; the problem with such an epilogue.
std::string epilogue_of(const GemmProblem& problem);
GemmProblem with_epilogue(GemmProblem problem, const std::string& epilogue);

// The operands that a problem has, D first, and where each is in a set of them.
class GemmOperandLayout {
 public:
  explicit GemmOperandLayout(const GemmProblem& problem);
  const std::vector<Operand>& operands() const { return operands_; }
  GemmOperands of(std::span<void* const> set) const;

 private:
  GemmProblem problem_;
  std::vector<Operand> operands_;
};

// What is wrong with D, of as many outputs as a case compares; empty if nothing is.
std::string find_error(const GemmProblem& problem, const GemmOperands& operands, std::uint64_t seed,
                       cudaStream_t stream, std::uint64_t checked = 1 << 16);

// cuBLASLt on the same problem and sets. Throws Error(unfit) where it cannot be had.
std::unique_ptr<Baseline> open_cublaslt(const GemmProblem& problem,
                                        const std::vector<GemmOperands>& sets);

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/operands.hpp"

#include <utility>

#include "kernels/baselines/cublaslt.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"

namespace assay::kernels {

std::vector<Operand> block_scaled_operands(const BlockScaledProblem& p) {
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  return {{.bytes = size(p.m) * size(p.n) * 2},
          normal("e4m3", size(p.m) * size(p.k)),
          normal("e4m3", size(p.n) * size(p.k)),
          factors(size(blocks_of_scales(p.k)) * size(scale_a_stride(p.m))),
          factors(size(blocks_of_scales(p.n)) * size(scale_b_stride(p.k)))};
}

BlockScaledOperands block_scaled_operands_of(std::span<void* const> set) {
  return {set[0], set[1], set[2], static_cast<const float*>(set[3]),
          static_cast<const float*>(set[4])};
}

std::unique_ptr<Baseline> open_block_scaled_cublaslt(const BlockScaledProblem& p,
                                                     const std::vector<BlockScaledOperands>& sets) {
  std::vector<CublasLtGemm::Operands> operands;
  for (const auto& [d, a, b, scale_a, scale_b] : sets)
    operands.push_back({.d = d, .a = a, .b = b, .scale_a = scale_a, .scale_b = scale_b});
  return std::make_unique<CublasLtGemm>(CublasLtProblem{.m = p.m,
                                                        .n = p.n,
                                                        .k = p.k,
                                                        .a = "e4m3",
                                                        .b = "e4m3",
                                                        .d = "bf16",
                                                        .scale_a = CublasLtScale::block128,
                                                        .scale_b = CublasLtScale::block128x128,
                                                        .fast_accumulation = false},
                                        std::move(operands));
}

}  // namespace assay::kernels

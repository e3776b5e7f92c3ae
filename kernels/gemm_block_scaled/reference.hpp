// SPDX-License-Identifier: Apache-2.0
// The check of a block-scaled product: float64, with the bound of error_bound.hpp.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/gemm/reference.hpp"
#include "kernels/gemm_block_scaled/gemm_block_scaled.hpp"

namespace assay::kernels {

// Compares D on the GPU, one warp per output: all outputs if there are no more than `limit`, else
// `limit` of them chosen by a hash of `seed`. Rows of scale_a are `scale_a_stride` apart: 0, as
// block_scales.hpp has them; else part of a larger problem is checked. Blocks.
GemmErrors check_gemm_block_scaled(const BlockScaledProblem& problem,
                                   const BlockScaledOperands& operands, std::uint64_t limit,
                                   std::uint64_t seed, cudaStream_t stream, int scale_a_stride = 0);

}  // namespace assay::kernels

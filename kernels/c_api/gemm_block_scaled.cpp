// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/gemm_block_scaled.hpp"
#include "kernels/c_api/arguments.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/c_api/boundary.hpp"

int assay_gemm_e4m3_block128_nt(void* d, const void* a, const void* b, const float* scale_a,
                                const float* scale_b, int m, int n, int k, void* stream) {
  using namespace assay::kernels;
  return guarded([&] {
    const BlockScaledProblem problem{.m = m, .n = n, .k = k};
    const BlockScaledOperands operands{d, a, b, scale_a, scale_b};
    require_valid(problem, operands);
    require_here("assay_gemm_e4m3_block128_nt",
                 {{"d", d}, {"a", a}, {"b", b}, {"scale_a", scale_a}, {"scale_b", scale_b}},
                 stream);
    plan_gemm_block_scaled(problem, operands).run(static_cast<cudaStream_t>(stream));
  });
}

// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/c_api/boundary.hpp"

int assay_gemm_bf16_nt(void* d, const void* a, const void* b, int m, int n, int k, void* stream) {
  using namespace assay::kernels;
  return guarded([&] {
    const GemmProblem problem{.m = m, .n = n, .k = k, .type = "bf16", .layout = "nt"};
    plan_gemm(problem, {d, a, b}).run(static_cast<cudaStream_t>(stream));
  });
}

// SPDX-License-Identifier: Apache-2.0
// What skinny products are compared with.
#pragma once
#include "kernels/baselines/cublaslt.hpp"
#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {

// The same product with weights in bf16: cuBLASLt has no packed ones.
inline CublasLtProblem skinny_baseline(const SkinnyProblem& p) {
  return {.m = p.m, .n = p.n, .k = p.k, .a = "bf16", .b = "bf16", .d = "bf16"};
}

}  // namespace assay::kernels

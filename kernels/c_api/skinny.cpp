// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/skinny.hpp"
#include "harness/error.hpp"
#include "kernels/c_api/assay_kernels.h"
#include "kernels/c_api/boundary.hpp"

int assay_skinny(const char* weights, void* d, const void* x, const void* w, const void* scales,
                 const float* scale, int m, int n, int k, void* stream) {
  using namespace assay::kernels;
  return guarded([&] {
    if (weights == nullptr) throw assay::Error(assay::ExitCode::usage, "skinny: weights is null");
    const SkinnyProblem problem{.m = m, .n = n, .k = k, .weights = skinny_weights(weights)};
    plan_skinny(problem, {d, x, w, scales, scale}).run(static_cast<cudaStream_t>(stream));
  });
}

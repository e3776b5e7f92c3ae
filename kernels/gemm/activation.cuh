// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "harness/ptx/arithmetic.cuh"
#include "kernels/gemm/activation.hpp"

namespace assay::kernels {

// x / (1 + 2^t).
__device__ inline float times_sigmoid(float x, float t) {
  return x * ptx::rcp_approx_ftz(1 + ptx::ex2_approx_ftz(t));
}

__device__ inline float gelu(float x) { return times_sigmoid(x, gelu_exponent(x)); }

__device__ inline float silu(float x) { return times_sigmoid(x, x * -1.44269504089f); }

__device__ inline float gelu_tanh(float x) {
  const float half = 0.5f * x;
  return fmaf(half, __tanhf(gelu_tanh_argument(x)), half);
}

// As Activation counts (kernels/gemm/gemm.hpp).
__device__ inline float activated(float x, int activation) {
  return activation == 0 ? x : activation == 1 ? gelu(x) : activation == 2 ? silu(x) : gelu_tanh(x);
}

}  // namespace assay::kernels

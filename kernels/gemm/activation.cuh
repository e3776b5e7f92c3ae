// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gemm/activation.hpp"

namespace assay::kernels {

__device__ inline float gelu(float x) { return x * __saturatef(fmaf(gelu_polynomial(x), x, 0.5f)); }

__device__ inline float silu(float x) { return __fdividef(x, 1 + __expf(-x)); }

}  // namespace assay::kernels

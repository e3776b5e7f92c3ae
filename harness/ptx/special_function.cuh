// SPDX-License-Identifier: Apache-2.0
// Functions of the special function unit that CUDA C++ has no intrinsic for.
#pragma once
#include <cstdint>

namespace assay::ptx {

// 2^x; subnormal arguments and results are 0. One MUFU.EX2.
__device__ inline float ex2_approx_ftz(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace assay::ptx

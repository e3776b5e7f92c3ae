// SPDX-License-Identifier: Apache-2.0
// Functions of the special function unit that CUDA C++ has no intrinsic for. PTX ISA 9.0,
// "ex2".
#pragma once
#include <cstdint>

namespace assay::ptx {

// 2^x; subnormal arguments and results are 0. One MUFU.EX2.
__device__ inline float ex2_approx_ftz(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 2^x of two f16. Two MUFU.EX2.F16, or one on sm_103a.
__device__ inline std::uint32_t ex2_approx_f16x2(std::uint32_t x) {
  std::uint32_t y;
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}

}  // namespace assay::ptx

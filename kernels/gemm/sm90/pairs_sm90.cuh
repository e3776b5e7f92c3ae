// SPDX-License-Identifier: Apache-2.0
// Two values of bf16 or f16 in a word, the first in its low half, and as f32.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace assay::kernels {

__device__ inline float2 unpack(std::uint32_t pair, bool half) {
  if (half) return __half22float2(reinterpret_cast<const __half2&>(pair));
  return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(pair));
}

__device__ inline std::uint32_t pack(float low, float high, bool half) {
  if (half) {
    const __half2 pair = __floats2half2_rn(low, high);
    return reinterpret_cast<const std::uint32_t&>(pair);
  }
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const std::uint32_t&>(pair);
}

}  // namespace assay::kernels

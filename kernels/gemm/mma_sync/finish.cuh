// SPDX-License-Identifier: Apache-2.0
// What becomes of the sums of a product before they are stored: D = activation(alpha * scale_a *
// scale_b * sum + beta * C + bias), in f32, of two neighbours in a row at a time.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/gemm/activation.cuh"
#include "kernels/gemm/mma_sync/arguments.hpp"

namespace assay::kernels {

// Elements `at` and at + 1; at is even.
__device__ inline float2 load_pair(int type, const void* data, std::int64_t at) {
  if (type == 2) return *reinterpret_cast<const float2*>(static_cast<const float*>(data) + at);
  if (type == 1)
    return __half22float2(*reinterpret_cast<const __half2*>(static_cast<const __half*>(data) + at));
  return __bfloat1622float2(
      *reinterpret_cast<const __nv_bfloat162*>(static_cast<const __nv_bfloat16*>(data) + at));
}

__device__ inline void store_pair(int type, void* data, std::int64_t at, float2 value) {
  if (type == 2)
    *reinterpret_cast<float2*>(static_cast<float*>(data) + at) = value;
  else if (type == 1)
    *reinterpret_cast<__half2*>(static_cast<__half*>(data) + at) = __float22half2_rn(value);
  else
    *reinterpret_cast<__nv_bfloat162*>(static_cast<__nv_bfloat16*>(data) + at) =
        __float22bfloat162_rn(value);
}

// Row `row`, columns `column` and column + 1 of a result that has n.
__device__ inline void finish_pair(const MmaSyncFinish& f, int row, int column, int n, float2 sum) {
  const std::int64_t at = static_cast<std::int64_t>(row) * n + column;
  float2 factor = make_float2(f.alpha, f.alpha);
  if (f.scale_a) {
    const float of_row = f.alpha * f.scale_a[static_cast<std::int64_t>(row) * f.scale_step];
    factor = make_float2(of_row * f.scale_b[column * f.scale_step],
                         of_row * f.scale_b[(column + 1) * f.scale_step]);
  }
  float2 v = make_float2(factor.x * sum.x, factor.y * sum.y);
  if (f.c) {
    const float2 c = load_pair(f.type_d, f.c, at);
    v = make_float2(v.x + f.beta * c.x, v.y + f.beta * c.y);
  }
  if (f.bias) {
    const float2 bias = load_pair(f.type_d, f.bias, column);
    v = make_float2(v.x + bias.x, v.y + bias.y);
  }
  store_pair(f.type_d, f.d, at,
             make_float2(activated(v.x, f.activation), activated(v.y, f.activation)));
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/fill.hpp"

#include <cuda_bf16.h>

#include "harness/cuda.hpp"
#include "harness/measure/splitmix64.hpp"

namespace assay::kernels {
namespace {

__global__ void fill_uniform(__nv_bfloat16* data, std::size_t count, std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const double unit = static_cast<double>(splitmix64(i ^ splitmix64(seed)) >> 11) * 0x1p-53;
    data[i] = __float2bfloat16_rn(static_cast<float>(2 * unit - 1));
  }
}

}  // namespace

void fill_uniform_bf16(void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_uniform<<<1024, 256, 0, stream>>>(static_cast<__nv_bfloat16*>(data), count, seed);
  check(cudaGetLastError());
}

void poison(void* data, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemsetAsync(data, 0xff, bytes, stream));
}

}  // namespace assay::kernels

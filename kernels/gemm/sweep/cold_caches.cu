// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sweep/cold_caches.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::kernels {
namespace {

constexpr int kThreads = 1024;
// Straight-line code of 64 KB, as much as the compiler unrolls at once. Three of it are more than
// the 128 KB that an SM's caches hold.
template <int kPart>
__device__ __forceinline__ float long_sum(float sum) {
  constexpr int kInstructions = 4096;  // of 16 bytes
#pragma unroll
  for (int i = 0; i < kInstructions; ++i)
    sum = fmaf(sum, 0.5f, static_cast<float>(kPart * kInstructions + i));
  return sum;
}

__global__ void __launch_bounds__(kThreads) evict(uint4* data, std::size_t words) {
  const std::size_t all = std::size_t{gridDim.x} * kThreads;
  std::uint32_t seen = 0;
  for (std::size_t at = std::size_t{blockIdx.x} * kThreads + threadIdx.x; at < words; at += all)
    seen ^= data[at].x;
  if (threadIdx.x >= 32) return;
  const float sum = long_sum<2>(long_sum<1>(long_sum<0>(static_cast<float>(seen))));
  if (sum == -1.0f) data[threadIdx.x].x = 1;  // never: it keeps the compiler from leaving all out
}

}  // namespace

ColdCaches::ColdCaches() {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  sms_ = device.multiProcessorCount;
  data_ = Buffer(static_cast<std::size_t>(device.l2CacheSize) * 2);
  check(cudaMemset(data_.data(), 0, data_.bytes()));
}

void ColdCaches::make(cudaStream_t stream) {
  evict<<<sms_, kThreads, 0, stream>>>(data_.as<uint4>(), data_.bytes() / sizeof(uint4));
  check(cudaGetLastError());
}

}  // namespace assay::kernels

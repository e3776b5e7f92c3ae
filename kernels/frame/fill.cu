// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/fill.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "harness/measure/splitmix64.hpp"

namespace assay::kernels {
namespace {

constexpr int kBlocks = 1024;
constexpr int kThreads = 256;

// Element i of what a seed makes, as 64 random bits.
__device__ std::uint64_t bits_of(std::size_t i, std::uint64_t seed) {
  return splitmix64(i ^ splitmix64(seed));
}

__global__ void fill_uniform(__nv_bfloat16* data, std::size_t count, std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const double unit = static_cast<double>(bits_of(i, seed) >> 11) * 0x1p-53;
    data[i] = __float2bfloat16_rn(static_cast<float>(2 * unit - 1));
  }
}

// Box and Muller: of two uniform numbers, one of them in (0, 1], a normal one.
template <class Element>
__global__ void fill_with_normal(Element* data, std::size_t count, std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const std::uint64_t bits = bits_of(i, seed);
    const float radius = sqrtf(-2 * logf(static_cast<float>((bits >> 40) + 1) * 0x1p-24f));
    const float angle = static_cast<float>(bits & 0xffffff) * 0x1p-23f;  // in units of pi
    data[i] = static_cast<Element>(radius * cospif(angle));
  }
}

__global__ void fill_with_factors(float* data, std::size_t count, std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    data[i] = 0.5f + static_cast<float>(bits_of(i, seed) >> 41) * 0x1p-23f;
}

__global__ void fill_with_bytes(unsigned char* data, std::size_t count, std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    data[i] = static_cast<unsigned char>(bits_of(i, seed) >> 56);
}

template <class Element>
void launch_normal(void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_with_normal<<<kBlocks, kThreads, 0, stream>>>(static_cast<Element*>(data), count, seed);
}

}  // namespace

void fill_uniform_bf16(void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_uniform<<<kBlocks, kThreads, 0, stream>>>(static_cast<__nv_bfloat16*>(data), count, seed);
  check(cudaGetLastError());
}

void fill_normal(const std::string& type, void* data, std::size_t count, std::uint64_t seed,
                 cudaStream_t stream) {
  if (type == "bf16")
    launch_normal<__nv_bfloat16>(data, count, seed, stream);
  else if (type == "f16")
    launch_normal<__half>(data, count, seed, stream);
  else if (type == "f32")
    launch_normal<float>(data, count, seed, stream);
  else if (type == "e4m3")
    launch_normal<__nv_fp8_e4m3>(data, count, seed, stream);
  else if (type == "e5m2")
    launch_normal<__nv_fp8_e5m2>(data, count, seed, stream);
  else
    throw Error(ExitCode::usage,
                "operands of type " + type + " cannot be filled: use bf16, f16, f32, e4m3 or e5m2");
  check(cudaGetLastError());
}

void fill_factors(void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_with_factors<<<kBlocks, kThreads, 0, stream>>>(static_cast<float*>(data), count, seed);
  check(cudaGetLastError());
}

void fill_bytes(void* data, std::size_t bytes, std::uint64_t seed, cudaStream_t stream) {
  fill_with_bytes<<<kBlocks, kThreads, 0, stream>>>(static_cast<unsigned char*>(data), bytes, seed);
  check(cudaGetLastError());
}

void poison(void* data, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemsetAsync(data, 0xff, bytes, stream));
}

}  // namespace assay::kernels

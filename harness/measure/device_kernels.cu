// SPDX-License-Identifier: Apache-2.0
#include "harness/cuda.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/measure/splitmix64.hpp"
#include "harness/ptx/stopwatch.cuh"

namespace assay {
namespace {

__global__ void stamp(ClockStamp* stamps) {
  // Enough shared memory per CTA that no two fit on one SM would spread them for certain; one
  // thread each and as many CTAs as SMs is spread by the hardware in practice, and an SM without a
  // stamp is merely left out.
  if (threadIdx.x == 0) stamps[ptx::smid()] = {ptx::clock64(), ptx::globaltimer()};
}

__global__ void spin(std::uint64_t nanoseconds) {
  const std::uint64_t start = ptx::globaltimer();
  while (ptx::globaltimer() - start < nanoseconds) __nanosleep(200);
}

__global__ void fill_random(std::uint64_t* words, std::size_t count, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    words[i] = splitmix64(seed * 0x2545f4914f6cdd1du + i);
}

__global__ void fill_tail(unsigned char* bytes, int count, std::uint64_t seed) {
  if (static_cast<int>(threadIdx.x) < count) bytes[threadIdx.x] = splitmix64(seed + threadIdx.x);
}

}  // namespace

void stamp_clocks(ClockStamp* stamps, int sm_count, cudaStream_t stream) {
  check(cudaMemsetAsync(stamps, 0, kMaxSms * sizeof(ClockStamp), stream));
  stamp<<<sm_count, 32, 0, stream>>>(stamps);
  check(cudaGetLastError());
}

void delay(std::uint64_t nanoseconds, cudaStream_t stream) {
  spin<<<1, 1, 0, stream>>>(nanoseconds);
  check(cudaGetLastError());
}

void random_bits(void* memory, std::size_t bytes, std::uint64_t seed, cudaStream_t stream) {
  const std::size_t words = bytes / 8;
  if (words)
    fill_random<<<1024, 256, 0, stream>>>(static_cast<std::uint64_t*>(memory), words, seed);
  if (const int tail = static_cast<int>(bytes % 8))
    fill_tail<<<1, 8, 0, stream>>>(static_cast<unsigned char*>(memory) + words * 8, tail, ~seed);
  check(cudaGetLastError());
}

void overwrite(void* memory, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemsetAsync(memory, 0x5a, bytes, stream));
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/crowd.hpp"

#include <algorithm>
#include <numeric>

#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/stopwatch.cuh"

namespace assay {
namespace {

constexpr int kSteps = 64, kQuickThreads = 256;

__device__ void note(Tally* tally, bool right) {
  if (!right) atomicAdd(&tally->wrong, 1);
  if (threadIdx.x == 0) atomicAdd(&tally->ctas[ptx::smid()], 1);
}

// x <- x * factor + term, begun at its fixed point.
__global__ void __launch_bounds__(kCrowdThreads)
    crowd_arithmetic(std::uint32_t cycles, float factor, float term, Tally* tally) {
  // One beginning for all: some warps are let run long before others issue their first instruction.
  __shared__ std::uint64_t shared_begin;
  if (threadIdx.x == 0) shared_begin = ptx::clock64();
  __syncthreads();
  const std::uint64_t begin = shared_begin;
  const float fixed_point = term / (1 - factor);
  float value = fixed_point;
  do {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) value = fmaf(value, factor, term);
  } while (ptx::clock64() - begin < cycles);
  note(tally, value == fixed_point);
}

// The sum of the words of `vectors` vectors, read by the whole CTA.
template <int kThreads>
__device__ std::uint32_t sum_of(const uint4* array, std::uint32_t vectors) {
  std::uint32_t sum = 0;
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < vectors; i += kThreads) {
    const uint4 v = ptx::load_v4(array + i);
    sum += v.x + v.y + v.z + v.w;
  }
  return sum;
}

template <int kThreads>
__device__ bool is_right(std::uint32_t sum, std::uint32_t vectors) {
  return sum == vectors / kThreads * 4 * kCrowdWord;
}

__global__ void __launch_bounds__(kCrowdThreads)
    crowd_reads(const uint4* array, std::uint32_t parts, Tally* tally) {
  constexpr std::uint32_t kVectors = kCrowdBytes / sizeof(uint4);
  const uint4* mine = array + std::size_t{blockIdx.x % parts} * kVectors;
  note(tally, is_right<kCrowdThreads>(sum_of<kCrowdThreads>(mine, kVectors), kVectors));
}

__global__ void __launch_bounds__(kQuickThreads) quick(const uint4* array, Tally* tally) {
  constexpr std::uint32_t kVectors = kQuickBytes / kQuickCtas / sizeof(uint4);
  const uint4* mine = array + blockIdx.x * kVectors;
  note(tally, is_right<kQuickThreads>(sum_of<kQuickThreads>(mine, kVectors), kVectors));
}

}  // namespace

Tally read(const Tally* device) {
  Tally found;
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(&found, device, sizeof found, cudaMemcpyDeviceToHost));
  return found;
}

std::uint64_t cta_count(const Tally& tally) {
  return std::accumulate(std::begin(tally.ctas), std::end(tally.ctas), std::uint64_t{0});
}

int sm_count(const Tally& tally) {
  return kMaxSms - static_cast<int>(std::ranges::count(tally.ctas, 0u));
}

bool on_separate_sms(const Tally& a, const Tally& b) {
  for (int sm = 0; sm < kMaxSms; ++sm)
    if (a.ctas[sm] && b.ctas[sm]) return false;
  return true;
}

void crowd_with_arithmetic(const Device& device, unsigned ctas, double us, Tally* tally,
                           cudaStream_t stream) {
  const auto cycles = static_cast<std::uint32_t>(us * device.sm_clock_max_mhz);
  crowd_arithmetic<<<ctas, kCrowdThreads, 0, stream>>>(cycles, 0.5f, 1.0f, tally);
  check(cudaGetLastError());
}

void crowd_with_reads(unsigned ctas, const uint4* array, std::uint32_t parts, Tally* tally,
                      cudaStream_t stream) {
  crowd_reads<<<ctas, kCrowdThreads, 0, stream>>>(array, parts, tally);
  check(cudaGetLastError());
}

void quick_read(const uint4* array, Tally* tally, cudaStream_t stream) {
  quick<<<kQuickCtas, kQuickThreads, 0, stream>>>(array, tally);
  check(cudaGetLastError());
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// Time as a CTA sees it: its SM's cycle counter beside the GPU-wide nanosecond timer.
#pragma once
#include <cstdint>

namespace assay {

// One per CTA, written by its first thread.
struct StopwatchRecord {
  std::uint64_t start_clock, stop_clock;  // %clock64 of SM `sm`
  std::uint64_t start_ns, stop_ns;        // %globaltimer
  std::uint32_t sm;                       // %smid
  std::uint32_t unused;
};

#ifdef __CUDACC__
namespace ptx {

// "memory" clobbers keep loads, stores and other asm volatile on their side of the reading.
__device__ inline std::uint64_t clock64() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value)::"memory");
  return value;
}
__device__ inline std::uint64_t globaltimer() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}
__device__ inline std::uint32_t smid() {
  std::uint32_t value;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(value));
  return value;
}

}  // namespace ptx

// Brackets the measured part of a kernel for the whole CTA: every thread constructs it and calls
// stop(); barriers on both sides make the CTA's slowest warp count. Their own cost (some tens of
// cycles) cancels when the harness subtracts a run of n iterations from one of 2n.
class Stopwatch {
 public:
  __device__ Stopwatch() {
    __syncthreads();
    start_ns_ = ptx::globaltimer();
    start_clock_ = ptx::clock64();
  }
  __device__ void stop(StopwatchRecord* records) const {
    __syncthreads();
    const std::uint64_t stop_clock = ptx::clock64();
    const std::uint64_t stop_ns = ptx::globaltimer();
    if (threadIdx.x == 0)
      records[blockIdx.x] = {start_clock_, stop_clock, start_ns_, stop_ns, ptx::smid(), 0};
  }

 private:
  std::uint64_t start_clock_, start_ns_;
};
#endif

}  // namespace assay

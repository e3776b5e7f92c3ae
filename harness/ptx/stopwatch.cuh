// SPDX-License-Identifier: Apache-2.0
// Time as a CTA sees it: SM cycles beside GPU-wide nanoseconds. PTX ISA 9.0, "Special Registers".
#pragma once
#include <cstdint>

namespace assay {

// One per CTA. Zero before the launch: its warps leave the latest of their stops.
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
// The low half of it, which one instruction reads.
__device__ inline std::uint32_t clock32() {
  std::uint32_t value;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(value)::"memory");
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

// *address = max(*address, value), carried out in L2; nothing is waited for.
__device__ inline void reduce_max(std::uint64_t* address, std::uint64_t value) {
  asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

}  // namespace ptx

// Brackets the measured part of a kernel for the whole CTA: every thread constructs it and calls
// stop(); barriers on both sides make the CTA's slowest warp count. Their own cost (some tens of
// cycles) cancels when the harness subtracts a run of n iterations from one of 2n.
//
// Every warp reads the stop for itself, and the latest stands: nothing makes a reading behind a
// barrier wait for the other warps (ptxas 13.0 places CS2R one issue slot behind
// BAR.SYNC.DEFER_BLOCKING, without a dependence), so the first warp's alone would leave out how far
// the scheduler has favoured it.
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
    StopwatchRecord& record = records[blockIdx.x];
    if (threadIdx.x % 32 == 0) {
      ptx::reduce_max(&record.stop_clock, stop_clock);
      ptx::reduce_max(&record.stop_ns, stop_ns);
    }
    if (threadIdx.x == 0) {
      record.start_clock = start_clock_;
      record.start_ns = start_ns_;
      record.sm = ptx::smid();
    }
  }

 private:
  std::uint64_t start_clock_, start_ns_;
};
#endif

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// Small kernels the harness itself runs around a measurement.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace assay {

// What one SM's counters read at one moment; `ns` 0 if no CTA landed on that SM.
struct ClockStamp {
  std::uint64_t clock, ns;
};

// Lets every SM note its cycle counter and the global timer into stamps[%smid]. Two such launches
// around a piece of work give each SM's average clock over it. `stamps` holds kMaxSms.
inline constexpr int kMaxSms = 1024;
void stamp_clocks(ClockStamp* stamps, int sm_count, cudaStream_t stream);

// Keeps the stream busy, so that what is enqueued behind it starts without waiting for the CPU.
void delay(std::uint64_t nanoseconds, cudaStream_t stream);

// How long the CPU may take to enqueue a sample while the GPU is kept busy: longer than a launch of
// any library seen here, so that no launch latency is inside the events.
constexpr std::uint64_t kEnqueueNs = 40'000;

// Fills with reproducible random bits.
void random_bits(void* memory, std::size_t bytes, std::uint64_t seed, cudaStream_t stream);

// Writes over `bytes` of `memory`, so that they push everything else out of L2.
void overwrite(void* memory, std::size_t bytes, cudaStream_t stream);

}  // namespace assay

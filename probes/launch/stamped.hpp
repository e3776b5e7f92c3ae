// SPDX-License-Identifier: Apache-2.0
// Kernels that do nothing, or note when they ran, and the ways to launch them.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay {

// Left by the first thread of a stamped kernel. Times are %globaltimer's.
struct Stamp {
  std::uint64_t begin_ns;  // its first instruction
  std::uint64_t ready_ns;  // from when on it may use what its predecessors wrote
  std::uint64_t end_ns;    // its work is done; the stamp itself is yet to be written
  std::uint32_t sm;
  std::uint32_t serial;  // its predecessor's plus one: proves that it ran, after that, and saw it
};

// SMs read %globaltimer through copies of their own: two of its steps on Hopper, by which what
// comes after something else may seem to come before it.
inline constexpr std::uint64_t kTimerSlackNs = 64;

// How a kernel is launched. Zero or false: that launch attribute is not given.
struct LaunchShape {
  unsigned ctas = 1, threads = 32;
  unsigned cluster = 0;  // CTAs of a cluster
  bool cooperative = false;
  bool programmatic = false;  // may begin before its predecessor in the stream has ended
};
void launch(const void* kernel, const LaunchShape& shape, void** arguments, cudaStream_t stream);

// Takes no arguments, does nothing; the programmatic one lets its dependents go first and then
// waits for what it depends on (sm_90 and newer).
const void* empty_kernel(bool programmatic);

// (Stamp* own, const Stamp* predecessor, std::uint32_t work_ns): stamps, after working so long.
const void* stamped_kernel(bool programmatic);
inline constexpr int kStampedArgumentBytes = 20;

// (std::uint32_t* flag, std::uint32_t value): writes it, for the CPU to see if that memory is its.
const void* flag_kernel();

// The stamped kernel with `argument_bytes` of arguments in all, one of kArgumentBytes: the further
// words must be 1 first, and zero after it.
inline constexpr int kArgumentBytes[] = {24, 64, 256, 1024, 4096, 16384, 32764};
const void* stamped_kernel_with(int argument_bytes);

}  // namespace assay

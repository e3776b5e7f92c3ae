// SPDX-License-Identifier: Apache-2.0
// Global memory as threads of the whole GPU signal to one another through it. PTX ISA 9.0, "Memory
// Consistency Model".
#pragma once
#include <cstdint>

namespace assay::ptx {

// *address += 1, seen by whoever acquires it after all that this thread wrote before.
__device__ inline void increment_release(std::uint32_t* address) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(address) : "memory");
}

// What is read afterwards is at least as new as what was written before a release that this sees.
__device__ inline std::uint32_t load_acquire(const std::uint32_t* address) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

}  // namespace assay::ptx

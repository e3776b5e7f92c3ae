// SPDX-License-Identifier: Apache-2.0
// Acquire and release at the scope of the GPU of words in shared memory, each of which is one half
// of a fence: nothing but the word itself is written or read. sm_90 and newer, where other CTAs
// reach shared memory: older ones have no more to do than at the scope of a CTA. PTX ISA 9.0,
// "Memory Consistency Model" and "Parallel Synchronization and Communication Instructions: red".
#pragma once
#include <cstdint>

#include "harness/ptx/shared_address.cuh"

namespace assay::ptx {

// *word += 1, after the GPU sees all that this thread wrote before. No plain store: ptxas makes one
// release of several that follow one another.
__device__ inline void increment_release_shared(std::uint32_t* word) {
  asm volatile("red.release.gpu.shared.add.u32 [%0], 1;" ::"r"(shared_address(word)) : "memory");
}

// Empties L1: what is read afterwards is as new as what L2 has.
__device__ inline std::uint32_t load_acquire_shared(const std::uint32_t* word) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.shared.u32 %0, [%1];"
               : "=r"(value)
               : "r"(shared_address(word))
               : "memory");
  return value;
}

}  // namespace assay::ptx

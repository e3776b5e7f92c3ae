// SPDX-License-Identifier: Apache-2.0
// cp.async: copies of 4, 8 or 16 bytes by each thread, from global to shared memory, past the
// registers. They complete in groups of the thread that issued them: commit, then wait. sm_80 and
// newer. PTX ISA 9.0, "Data Movement and Conversion Instructions: cp.async".
#pragma once
#include <cstdint>

#include "harness/ptx/shared_address.cuh"

namespace assay::ptx {

// Both ends are aligned to kBytes. 16 bytes go past L1 (.cg), fewer only come through it (.ca).
template <int kBytes>
__device__ inline void cp_async(void* destination, const void* source) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(destination)),
                 "l"(__cvta_generic_to_global(source))
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(destination)),
                 "l"(__cvta_generic_to_global(source)), "n"(kBytes)
                 : "memory");
}

// The same for the first `bytes` bytes of the source alone; zeros fill the rest. With none, the
// source is not read.
template <int kBytes>
__device__ inline void cp_async_filled(void* destination, const void* source, std::uint32_t bytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(destination)),
                 "l"(__cvta_generic_to_global(source)), "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(destination)),
                 "l"(__cvta_generic_to_global(source)), "n"(kBytes), "r"(bytes)
                 : "memory");
}

// Closes this thread's current group of copies, which may be empty.
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most kPending of this thread's newest groups are incomplete; this thread then sees
// what the others brought.
template <int kPending>
__device__ inline void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace assay::ptx

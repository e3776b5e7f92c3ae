// SPDX-License-Identifier: Apache-2.0
// Barriers among part of a CTA's warps. Barrier 0 is __syncthreads; 1 .. 15 are free.
// PTX ISA 9.0, "bar, barrier".
#pragma once

namespace assay::ptx {

// Waits until `threads` threads (a multiple of 32) have come to barrier `id`.
__device__ inline void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Counts this thread as arrived without waiting.
__device__ inline void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace assay::ptx

// SPDX-License-Identifier: Apache-2.0
// What the small kernels of these tests have in common: blocks of 128 threads and their barriers.
#pragma once
#include <cstdint>

#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"

constexpr int kThreads = 128;
constexpr std::uint32_t kBytes = kThreads * sizeof(float);

// The other threads may use them behind a barrier of the block.
__device__ inline void init_barriers(assay::ptx::Mbarrier* barriers, int count,
                                     std::uint32_t arrivals) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < count; ++i) assay::ptx::mbarrier_init(barriers + i, arrivals);
    assay::ptx::fence_mbarrier_init();
  }
}

// All threads of the block call.
__device__ inline void make_barriers(assay::ptx::Mbarrier* barriers, int count,
                                     std::uint32_t arrivals) {
  init_barriers(barriers, count, arrivals);
  __syncthreads();
}

__device__ inline void make_barrier(assay::ptx::Mbarrier* barrier, std::uint32_t arrivals) {
  make_barriers(barrier, 1, arrivals);
}

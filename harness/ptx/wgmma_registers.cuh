// SPDX-License-Identifier: Apache-2.0
// wgmma with A in registers. sm_90a only. wgmma.cuh tells the order of use, which is the same, and
// where accumulators are.
//
// Thread t of the warpgroup (warp w = t / 32, lane l = t % 32) holds four words of a 64 x 16 A, two
// elements of bf16 each, the first in the low half:
//   a[i] is row 16 * w + l / 4 + 8 * (i % 2), columns 2 * (l % 4) + 8 * (i / 2) and the next one.
// They belong to the MMA from the call until the wait that covers it, as accumulators do. ptxas
// sees to that: it takes no register of theirs for something else before. PTX ISA 9.0,
// "Asynchronous Warpgroup Level Matrix Instructions", register fragment figures.
#pragma once
#include <cstdint>

#include "harness/ptx/generated/wgmma_registers_bf16.cuh"
#include "harness/ptx/wgmma.cuh"

namespace assay::ptx {

// D += A * B, 64 x N x 16 in bf16, N twice the number of accumulators: 8, 16, 32 or 64. B, K-major,
// lies in shared memory. `accumulate` false: D = A * B.
template <int kCount>
__device__ inline void wgmma_a_in_registers(float (&d)[kCount], const std::uint32_t (&a)[4],
                                            std::uint64_t b, bool accumulate) {
  wgmma_registers_bf16<2 * kCount>(d, a, b, accumulate);
}

// wgmma_fence() that also makes the compiler fill the words of A in front of it: among MMAs, ptxas
// would run them one by one (C7513).
template <int kSteps>
__device__ inline void wgmma_fence(std::uint32_t (&a)[kSteps][4]) {
#pragma unroll
  for (int i = 0; i < 4 * kSteps; ++i) asm volatile("" : "+r"(a[i / 4][i % 4])::"memory");
  wgmma_fence();
}

}  // namespace assay::ptx

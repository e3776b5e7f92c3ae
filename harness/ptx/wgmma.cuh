// SPDX-License-Identifier: Apache-2.0
// wgmma: asynchronous matrix multiply by a warpgroup (four consecutive warps, the first a multiple
// of four). sm_90a only.
//
// Order of use: wgmma_fence(); any number of wgmma_*; wgmma_commit(); wgmma_wait<pending>().
// Registers and shared memory of an MMA belong to it from the call until the wait that covers it.
// A and B in shared memory are given by matrix descriptors.
//
// Accumulators of m64nN, thread t of the warpgroup (warp w = t / 32, lane l = t % 32):
//   d[4 * j + i] is row 16 * w + l / 4 + 8 * (i / 2), column 8 * j + 2 * (l % 4) + i % 2.
// PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions", register fragment figures.
#pragma once
#include <cstdint>

#include "harness/ptx/generated/wgmma_bf16_bf16.cuh"
#include "harness/ptx/generated/wgmma_e4m3_e4m3.cuh"
#include "harness/ptx/generated/wgmma_e4m3_e5m2.cuh"
#include "harness/ptx/generated/wgmma_e5m2_e4m3.cuh"
#include "harness/ptx/generated/wgmma_e5m2_e5m2.cuh"
#include "harness/ptx/generated/wgmma_f16_f16.cuh"
#include "harness/ptx/generated/wgmma_registers_bf16.cuh"

namespace assay::ptx {

// Orders earlier register accesses of the warpgroup before the MMAs that follow; needed before the
// first, and whenever the accumulators were touched by other instructions.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// Closes the current group of MMAs.
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most kPending of the newest groups are unfinished.
template <int kPending>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Tells the compiler that the accumulators change here. Placed after a wait, it keeps reads of them
// from moving above it; costs no instruction.
template <int kCount>
__device__ inline void wgmma_pin(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// Types of A and B. Accumulators are f32.
enum class WgmmaTypes { bf16, f16, e4m3, e4m3_e5m2, e5m2_e4m3, e5m2 };

// Elements along k of one MMA: 32 bytes.
template <WgmmaTypes kTypes>
constexpr int kWgmmaK = kTypes == WgmmaTypes::bf16 || kTypes == WgmmaTypes::f16 ? 16 : 32;

// D += A * B, 64 x N x kWgmmaK, N twice the number of accumulators: one of those that
// cmake/WgmmaForms.cmake lists. Both operands lie in shared memory. `accumulate` false: D = A * B.
// A transpose of 1 says that the operand is M- or N-major; 16-bit types only.
template <WgmmaTypes kTypes, int kTransposeA = 0, int kTransposeB = 0, int kCount>
__device__ inline void wgmma(float (&d)[kCount], std::uint64_t a, std::uint64_t b,
                             bool accumulate) {
  constexpr int kN = 2 * kCount;
  if constexpr (kTypes == WgmmaTypes::bf16)
    wgmma_bf16_bf16<kN, kTransposeA, kTransposeB>(d, a, b, accumulate);
  if constexpr (kTypes == WgmmaTypes::f16)
    wgmma_f16_f16<kN, kTransposeA, kTransposeB>(d, a, b, accumulate);
  if constexpr (kTypes == WgmmaTypes::e4m3)
    wgmma_e4m3_e4m3<kN, kTransposeA, kTransposeB>(d, a, b, accumulate);
  if constexpr (kTypes == WgmmaTypes::e4m3_e5m2)
    wgmma_e4m3_e5m2<kN, kTransposeA, kTransposeB>(d, a, b, accumulate);
  if constexpr (kTypes == WgmmaTypes::e5m2_e4m3)
    wgmma_e5m2_e4m3<kN, kTransposeA, kTransposeB>(d, a, b, accumulate);
  if constexpr (kTypes == WgmmaTypes::e5m2)
    wgmma_e5m2_e5m2<kN, kTransposeA, kTransposeB>(d, a, b, accumulate);
}

// D += A * B, 64 x N x 16 in bf16, A in registers, N twice the number of accumulators: 8, 16, 32 or
// 64. B, K-major, lies in shared memory. `accumulate` false: D = A * B.
//
// Thread t of the warpgroup (warp w = t / 32, lane l = t % 32) holds four words of A, two elements
// each, the first in the low half:
//   a[i] is row 16 * w + l / 4 + 8 * (i % 2), columns 2 * (l % 4) + 8 * (i / 2) and the next one.
// They belong to the MMA until the wait that covers it. ptxas sees to that: it takes no register of
// theirs for something else before.
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

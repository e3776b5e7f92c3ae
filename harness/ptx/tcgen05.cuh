// SPDX-License-Identifier: Apache-2.0
// tcgen05: the fifth generation's tensor cores and their tensor memory, 128 lanes of 512 columns of
// 32 bits in each CTA. sm_100a and sm_103a (and sm_110a) only.
//
// Order of use. One warp allocates columns and later frees the same. One thread issues the MMAs and
// commits them to an mbarrier, which gets an arrival when all that the thread issued before is
// done; MMAs of one thread are done in the order of their issue. Whoever has waited for the
// mbarrier calls tcgen05_fence_after_thread_sync() and loads: each warp of a warpgroup the 32 lanes
// of its rank in the warpgroup. Before the columns may be written again, the loaders call
// tcgen05_wait_load(), tcgen05_fence_before_thread_sync() and then arrive at a barrier.
//
// kCtas is the manual's cta_group: 2 pairs the two CTAs of a cluster whose ranks differ in the last
// bit. One kernel uses one of them throughout. Alloc, dealloc and relinquish are then called by one
// warp of each; the MMA and its commit by one thread of the pair.
// PTX ISA 9.0, "TensorCore 5th Generation Family Instructions". What goes into the descriptors is
// in descriptor/tcgen05_descriptor.hpp.
#pragma once
#include <cstdint>

#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/shared_address.cuh"

namespace assay::ptx {

// Allocates columns, a power of two from 32 to 512, and writes their address to `address` in shared
// memory. Blocks until they are free. All lanes of one warp.
template <int kCtas>
__device__ inline void tcgen05_alloc(std::uint32_t* address, std::uint32_t columns) {
  static_assert(kCtas == 1 || kCtas == 2);
  if constexpr (kCtas == 1)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                     shared_address(address)),
                 "r"(columns)
                 : "memory");
  else
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                     shared_address(address)),
                 "r"(columns)
                 : "memory");
}

// Frees what one tcgen05_alloc() gave, by the warp that called it.
template <int kCtas>
__device__ inline void tcgen05_dealloc(std::uint32_t address, std::uint32_t columns) {
  static_assert(kCtas == 1 || kCtas == 2);
  if constexpr (kCtas == 1)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address),
                 "r"(columns)
                 : "memory");
  else
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address),
                 "r"(columns)
                 : "memory");
}

// This CTA will allocate no more: others on the SM may.
template <int kCtas>
__device__ inline void tcgen05_relinquish_alloc_permit() {
  static_assert(kCtas == 1 || kCtas == 2);
  if constexpr (kCtas == 1)
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
  else
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
}

// Orders this thread's tcgen05 operations before the synchronization that follows.
__device__ inline void tcgen05_fence_before_thread_sync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// Orders this thread's tcgen05 operations that follow after the synchronization before.
__device__ inline void tcgen05_fence_after_thread_sync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// Until this warp's loads have written their registers.
__device__ inline void tcgen05_wait_load() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

// Until this warp's stores are in tensor memory.
__device__ inline void tcgen05_wait_store() {
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

// Tells the compiler that the registers of loads change here. Placed after tcgen05_wait_load(), it
// keeps uses of them from moving above it; costs no instruction.
template <int kCount>
__device__ inline void tcgen05_pin(std::uint32_t (&r)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(r[i])::"memory");
}

// D += A * B with A and B in shared memory, given by matrix descriptors; `accumulate` false: D = A
// * B. bf16 or f16 by the instruction descriptor. One thread.
template <int kCtas>
__device__ inline void tcgen05_mma_f16(std::uint32_t d, std::uint64_t a, std::uint64_t b,
                                       std::uint32_t instruction, bool accumulate) {
  static_assert(kCtas == 1 || kCtas == 2);
  if constexpr (kCtas == 1)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n"
        "}\n" ::"r"(d),
        "l"(a), "l"(b), "r"(instruction), "r"(static_cast<int>(accumulate))
        : "memory");
  else
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n"
        "}\n" ::"r"(d),
        "l"(a), "l"(b), "r"(instruction), "r"(static_cast<int>(accumulate))
        : "memory");
}

// One arrival on the barrier when all MMAs and copies that this thread issued before are done. What
// tcgen05_fence_before_thread_sync() does is part of it. One CTA.
__device__ inline void tcgen05_commit(Mbarrier* barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                   shared_address(barrier))
               : "memory");
}

// The same of a pair's MMAs, with an arrival on the barrier at this offset in every CTA whose bit
// is set in `cta_mask`.
__device__ inline void tcgen05_commit_multicast(Mbarrier* barrier, std::uint16_t cta_mask) {
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
      "[%0], %1;" ::"r"(shared_address(barrier)),
      "h"(cta_mask)
      : "memory");
}

// clang-format off
// Loads and stores of 32 lanes, thread t's register i being column i of the t-th lane from the
// address on. `address`: the lane in the upper 16 bits, the first of this warp's 32; the column in
// the lower ones. Registers of a load are there after tcgen05_wait_load().

__device__ inline void tcgen05_load_x1(std::uint32_t (&r)[1], std::uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {"
      "%0}, [%1];\n"
      : "=r"(r[0])
      : "r"(address)
      : "memory");
}

__device__ inline void tcgen05_load_x8(std::uint32_t (&r)[8], std::uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x8.b32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
      : "r"(address)
      : "memory");
}

__device__ inline void tcgen05_load_x16(std::uint32_t (&r)[16], std::uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x16.b32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]),
        "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11]), "=r"(r[12]), "=r"(r[13]), "=r"(r[14]), "=r"(r[15])
      : "r"(address)
      : "memory");
}

__device__ inline void tcgen05_load_x32(std::uint32_t (&r)[32], std::uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];\n"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]),
        "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11]), "=r"(r[12]), "=r"(r[13]), "=r"(r[14]), "=r"(r[15]),
        "=r"(r[16]), "=r"(r[17]), "=r"(r[18]), "=r"(r[19]), "=r"(r[20]), "=r"(r[21]), "=r"(r[22]), "=r"(r[23]),
        "=r"(r[24]), "=r"(r[25]), "=r"(r[26]), "=r"(r[27]), "=r"(r[28]), "=r"(r[29]), "=r"(r[30]), "=r"(r[31])
      : "r"(address)
      : "memory");
}

__device__ inline void tcgen05_store_x1(std::uint32_t address, const std::uint32_t (&r)[1]) {
  asm volatile(
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {"
      "%1};\n" ::"r"(address),
        "r"(r[0])
      : "memory");
}

__device__ inline void tcgen05_store_x8(std::uint32_t address, const std::uint32_t (&r)[8]) {
  asm volatile(
      "tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {"
      "%1, %2, %3, %4, %5, %6, %7, %8};\n" ::"r"(address),
        "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7])
      : "memory");
}

__device__ inline void tcgen05_store_x16(std::uint32_t address, const std::uint32_t (&r)[16]) {
  asm volatile(
      "tcgen05.st.sync.aligned.32x32b.x16.b32 [%0], {"
      "%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16};\n" ::"r"(address),
        "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]),
        "r"(r[8]), "r"(r[9]), "r"(r[10]), "r"(r[11]), "r"(r[12]), "r"(r[13]), "r"(r[14]), "r"(r[15])
      : "memory");
}

__device__ inline void tcgen05_store_x32(std::uint32_t address, const std::uint32_t (&r)[32]) {
  asm volatile(
      "tcgen05.st.sync.aligned.32x32b.x32.b32 [%0], {"
      "%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "
      "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32};\n" ::"r"(address),
        "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]),
        "r"(r[8]), "r"(r[9]), "r"(r[10]), "r"(r[11]), "r"(r[12]), "r"(r[13]), "r"(r[14]), "r"(r[15]),
        "r"(r[16]), "r"(r[17]), "r"(r[18]), "r"(r[19]), "r"(r[20]), "r"(r[21]), "r"(r[22]), "r"(r[23]),
        "r"(r[24]), "r"(r[25]), "r"(r[26]), "r"(r[27]), "r"(r[28]), "r"(r[29]), "r"(r[30]), "r"(r[31])
      : "memory");
}

// clang-format on

}  // namespace assay::ptx

// SPDX-License-Identifier: Apache-2.0
// Global memory as the threads of a GPU (.gpu), or of it, other GPUs and the host (.sys), signal to
// one another through it: relaxed, acquire and release accesses and atomics. L1 caches are not
// coherent, so L2 or what is behind it serves them. PTX ISA 9.0, "Memory Consistency Model" and
// "Parallel Synchronization and Communication Instructions: atom, red".
#pragma once
#include <cstdint>

#include "harness/ptx/shared_address.cuh"

namespace assay::ptx {

template <class T>
__device__ inline T* load_pointer_l2(T* const* address) {
  T* value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

__device__ inline std::uint32_t load_relaxed(const std::uint32_t* address) {
  std::uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

__device__ inline void store_relaxed(std::uint32_t* address, std::uint32_t value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

__device__ inline std::uint64_t load_relaxed_sys(const std::uint64_t* address) {
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

// What is read afterwards is at least as new as what was written before a release that this sees.
__device__ inline std::uint32_t load_acquire(const std::uint32_t* address) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

// *address += 1, seen by whoever acquires it after all that this thread wrote before.
__device__ inline void increment_release(std::uint32_t* address) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(address) : "memory");
}

// *address |= bits, carried out in L2; nothing is waited for.
__device__ inline void reduce_or(std::uint64_t* address, std::uint64_t bits) {
  asm volatile("red.relaxed.gpu.global.or.b64 [%0], %1;" ::"l"(address), "l"(bits) : "memory");
}

// The same, and the value from before it.
__device__ inline std::uint64_t fetch_or(std::uint64_t* address, std::uint64_t bits) {
  std::uint64_t before;
  asm volatile("atom.relaxed.gpu.global.or.b64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(address), "l"(bits)
               : "memory");
  return before;
}

// *address += addend, and the value from before it.
__device__ inline std::uint32_t fetch_add(std::uint32_t* address, std::uint32_t addend) {
  std::uint32_t before;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(address), "r"(addend)
               : "memory");
  return before;
}

__device__ inline std::uint64_t fetch_add_sys(std::uint64_t* address, std::uint64_t addend) {
  std::uint64_t before;
  asm volatile("atom.relaxed.sys.global.add.u64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(address), "l"(addend)
               : "memory");
  return before;
}

// The rest: words in shared memory, acquired and released at the scope of the GPU. Each is one half
// of a fence: nothing but the word itself is written or read. sm_90 and newer, where other CTAs
// reach shared memory: older ones have no more to do than at the scope of a CTA.

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

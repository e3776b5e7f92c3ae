// SPDX-License-Identifier: Apache-2.0
// Loads and stores with the cache behaviour spelled out. The compiler keeps each of them; ptxas may
// still make one load of two ordinary ones from one address with no store between. PTX ISA 9.0,
// "Data Movement and Conversion Instructions: ld, st, red".
#pragma once
#include <cstdint>

namespace assay::ptx {

// An ordinary load: an L1 hit if the line is there, else it is brought there.
template <class T>
__device__ inline T* load_pointer(T* const* address) {
  T* value;
  asm volatile("ld.weak.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

__device__ inline std::uint32_t load_u32(const std::uint32_t* address) {
  std::uint32_t value;
  asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

// A load that is coherent over the whole GPU. L1 caches are not, so L2 serves it.
template <class T>
__device__ inline T* load_pointer_l2(T* const* address) {
  T* value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

__device__ inline uint4 load_v4(const uint4* address) {
  uint4 v;
  asm volatile("ld.weak.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
  return v;
}

// Past L1: .cg caches in L2 only.
__device__ inline uint4 load_v4_l2(const uint4* address) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
  return v;
}

// For memory that nobody writes during the kernel and that is read once: leaves L1 alone and lets
// L2 fetch 256 bytes at a time.
__device__ inline uint4 load_v4_once(const uint4* address) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
  return v;
}

__device__ inline void store_v4(uint4* address, const uint4& v) {
  asm volatile("st.weak.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}

// For memory that is not used again soon: first to leave L2.
__device__ inline void store_v4_once(uint4* address, const uint4& v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}

// Addresses are in the .shared window (shared_address()).
__device__ inline std::uint32_t load_shared_u32(std::uint32_t address) {
  std::uint32_t value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}
__device__ inline uint4 load_shared_v4(std::uint32_t address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address)
               : "memory");
  return v;
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

}  // namespace assay::ptx

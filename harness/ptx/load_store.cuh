// SPDX-License-Identifier: Apache-2.0
// Loads and stores with the cache behaviour spelled out. The compiler keeps each of them; ptxas may
// still make one load of two ordinary ones from one address with no store between. PTX ISA 9.0,
// "Data Movement and Conversion Instructions: ld, ld.global.nc, st".
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

// An L1 hit if the line is there (.ca), from L2 (.cg), or fetched again from memory (.cv).
__device__ inline std::uint32_t load_u32_l1(const std::uint32_t* address) {
  std::uint32_t value;
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
__device__ inline std::uint32_t load_u32_l2(const std::uint32_t* address) {
  std::uint32_t value;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
__device__ inline std::uint32_t load_u32_volatile(const std::uint32_t* address) {
  std::uint32_t value;
  asm volatile("ld.global.cv.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

// An ordinary load that hints at how much L2 should fetch on a miss: the aligned 64, 128 or 256
// bytes around it (.level::prefetch_size).
template <int kPrefetch>
__device__ inline std::uint32_t load_u32_prefetching(const std::uint32_t* address) {
  static_assert(kPrefetch == 64 || kPrefetch == 128 || kPrefetch == 256);
  std::uint32_t value;
  if constexpr (kPrefetch == 64)
    asm volatile("ld.global.L2::64B.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  else if constexpr (kPrefetch == 128)
    asm volatile("ld.global.L2::128B.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  else
    asm volatile("ld.global.L2::256B.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
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
__device__ inline uint2 load_v2_l2(const uint2* address) {
  uint2 v;
  asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];"
               : "=r"(v.x), "=r"(v.y)
               : "l"(address)
               : "memory");
  return v;
}
__device__ inline uint4 load_v4_l2(const uint4* address) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
  return v;
}

// May hit in L1, but brings nothing there.
__device__ inline uint4 load_v4_not_to_l1(const uint4* address) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
  return v;
}

// The same for memory that nobody writes during the kernel (.nc).
__device__ inline uint4 load_v4_constant_not_to_l1(const uint4* address) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
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

// Ordinary accesses of 4, 8, 16 or, on sm_100 and newer, 32 bytes, at an address that is a multiple
// of as many.
template <int kWords>
__device__ inline void load_words(std::uint32_t (&w)[kWords], const void* address) {
  static_assert(kWords == 1 || kWords == 2 || kWords == 4 || kWords == 8);
  if constexpr (kWords == 1)
    asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(w[0]) : "l"(address) : "memory");
  else if constexpr (kWords == 2)
    asm volatile("ld.weak.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(w[0]), "=r"(w[1])
                 : "l"(address)
                 : "memory");
  else if constexpr (kWords == 4)
    asm volatile("ld.weak.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "l"(address)
                 : "memory");
  else
    asm volatile("ld.weak.global.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]),
                   "=r"(w[6]), "=r"(w[7])
                 : "l"(address)
                 : "memory");
}
template <int kWords>
__device__ inline void store_words(void* address, const std::uint32_t (&w)[kWords]) {
  static_assert(kWords == 1 || kWords == 2 || kWords == 4 || kWords == 8);
  if constexpr (kWords == 1)
    asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(address), "r"(w[0]) : "memory");
  else if constexpr (kWords == 2)
    asm volatile("st.weak.global.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(w[0]), "r"(w[1])
                 : "memory");
  else if constexpr (kWords == 4)
    asm volatile("st.weak.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(w[0]),
                 "r"(w[1]), "r"(w[2]), "r"(w[3])
                 : "memory");
  else
    asm volatile("st.weak.global.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(address),
                 "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(w[4]), "r"(w[5]), "r"(w[6]),
                 "r"(w[7])
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

}  // namespace assay::ptx

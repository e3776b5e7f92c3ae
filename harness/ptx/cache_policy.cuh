// SPDX-License-Identifier: Apache-2.0
// L2's eviction priority: a policy, made once, that loads and stores carry as a hint. PTX ISA 9.0,
// "Data Movement and Conversion Instructions: createpolicy", and .level::cache_hint of "ld", "st".
#pragma once
#include <cstdint>

namespace assay::ptx {

enum class Eviction { normal, first, last };

// For all that is accessed with it: evicted in order, before everything else, or after it.
template <Eviction kEviction>
__device__ inline std::uint64_t create_policy() {
  std::uint64_t policy;
  if constexpr (kEviction == Eviction::normal)
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  else if constexpr (kEviction == Eviction::first)
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  else
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// May hit in L1, but brings nothing there.
__device__ inline uint4 load_v4_hinted(const uint4* address, std::uint64_t policy) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address), "l"(policy)
               : "memory");
  return v;
}

__device__ inline void store_v4_hinted(uint4* address, const uint4& v, std::uint64_t policy) {
  asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(address),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(policy)
               : "memory");
}

}  // namespace assay::ptx

// SPDX-License-Identifier: Apache-2.0
// The shared memory of the other CTAs of a cluster. Addresses are in the .shared::cluster window:
// map_shared_address() gives them. sm_90 and newer. PTX ISA 9.0, "ld", "st", "st.async",
// "cp.async.bulk" and "atom", state space .shared::cluster.
#pragma once
#include <cstdint>

namespace assay::ptx {

// A word as other threads of the cluster may be writing it.
__device__ inline std::uint32_t cluster_load_u32(std::uint32_t address) {
  std::uint32_t value;
  asm volatile("ld.relaxed.cluster.shared::cluster.u32 %0, [%1];"
               : "=r"(value)
               : "r"(address)
               : "memory");
  return value;
}

// Ordinary accesses.
__device__ inline std::uint32_t cluster_load_weak_u32(std::uint32_t address) {
  std::uint32_t value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}
__device__ inline void cluster_store_u32(std::uint32_t address, std::uint32_t value) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ inline uint4 cluster_load_v4(std::uint32_t address) {
  uint4 v;
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address)
               : "memory");
  return v;
}
__device__ inline void cluster_store_v4(std::uint32_t address, const uint4& v) {
  asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x),
               "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

// Write 8 or 16 bytes and count them on the mbarrier at `barrier` in the same CTA; nothing is
// waited for.
__device__ inline void cluster_store_async_v2(std::uint32_t address, const uint2& v,
                                              std::uint32_t barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(
          address),
      "r"(v.x), "r"(v.y), "r"(barrier)
      : "memory");
}
__device__ inline void cluster_store_async_v4(std::uint32_t address, const uint4& v,
                                              std::uint32_t barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(address),
      "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(barrier)
      : "memory");
}

// Copies `bytes` bytes (a multiple of 16, both ends 16-byte aligned) from this CTA's shared memory,
// given by shared_address(), and counts them on the mbarrier at `barrier` where they arrive.
__device__ inline void cluster_copy_bulk(std::uint32_t to, std::uint32_t from, std::uint32_t bytes,
                                         std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
      "[%3];" ::"r"(to),
      "r"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

// Atomics: the word at `address` becomes what the name says, and its old value is returned.
__device__ inline std::uint32_t cluster_fetch_or(std::uint32_t address, std::uint32_t operand) {
  std::uint32_t old;
  asm volatile("atom.relaxed.cluster.shared::cluster.or.b32 %0, [%1], %2;"
               : "=r"(old)
               : "r"(address), "r"(operand)
               : "memory");
  return old;
}
__device__ inline std::uint32_t cluster_fetch_add(std::uint32_t address, std::uint32_t operand) {
  std::uint32_t old;
  asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "r"(address), "r"(operand)
               : "memory");
  return old;
}
__device__ inline std::uint32_t cluster_fetch_min(std::uint32_t address, std::uint32_t operand) {
  std::uint32_t old;
  asm volatile("atom.relaxed.cluster.shared::cluster.min.u32 %0, [%1], %2;"
               : "=r"(old)
               : "r"(address), "r"(operand)
               : "memory");
  return old;
}
__device__ inline std::uint32_t cluster_fetch_max(std::uint32_t address, std::uint32_t operand) {
  std::uint32_t old;
  asm volatile("atom.relaxed.cluster.shared::cluster.max.u32 %0, [%1], %2;"
               : "=r"(old)
               : "r"(address), "r"(operand)
               : "memory");
  return old;
}
// It becomes `desired` if it is `expected`.
__device__ inline std::uint32_t cluster_compare_and_swap(std::uint32_t address,
                                                         std::uint32_t expected,
                                                         std::uint32_t desired) {
  std::uint32_t old;
  asm volatile("atom.relaxed.cluster.shared::cluster.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "r"(address), "r"(expected), "r"(desired)
               : "memory");
  return old;
}

}  // namespace assay::ptx

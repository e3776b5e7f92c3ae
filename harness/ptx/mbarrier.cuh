// SPDX-License-Identifier: Apache-2.0
// mbarrier: the 64-bit shared-memory object that counts arrivals and asynchronous bytes.
//
// A barrier works in phases. A phase ends when its pending arrivals *and* its pending transaction
// bytes are both zero; the next begins at once with the full arrival count. Waiting names a phase
// by its parity: wait_parity(p) returns once the phase of parity p has ended. A fresh barrier is in
// phase 0, so "the phase before it", parity 1, counts as ended: a producer that starts with parity
// 1 falls through its first turn of an empty ring, and a consumer that starts with parity 0 blocks
// until the first fill. Both flip their parity each time the ring wraps.
//
// PTX ISA 9.0, "Parallel Synchronization and Communication Instructions: mbarrier". sm_90 and
// newer.
#pragma once
#include <cstdint>

#include "harness/ptx/shared_address.cuh"

namespace assay::ptx {

using Mbarrier = std::uint64_t;  // 8-byte aligned, in shared memory

// Makes a barrier whose phases each need `arrivals` arrivals. One thread calls it; then
// fence_mbarrier_init() and a CTA or cluster barrier make it visible to the others.
__device__ inline void mbarrier_init(Mbarrier* barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

// Frees the memory for other use.
__device__ inline void mbarrier_invalidate(Mbarrier* barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// One arrival, with release semantics at CTA scope.
__device__ inline void mbarrier_arrive(Mbarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

// One arrival on the barrier at the same address in CTA `rank` of the cluster. For handing back
// memory that was only read, or that async copies wrote: this thread's own ordinary stores it
// orders at CTA scope alone. `.release.cluster` would order them for the cluster, but becomes a
// GPU-scope fence per arrival (MEMBAR.ALL.GPU, ERRBAR: ptxas 13.0).
__device__ inline void mbarrier_arrive_remote(Mbarrier* barrier, std::uint32_t rank) {
  const std::uint32_t remote = map_shared_address(shared_address(barrier), rank);
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
}

// The same with release semantics at cluster scope.
__device__ inline void mbarrier_arrive_remote_release(Mbarrier* barrier, std::uint32_t rank) {
  const std::uint32_t remote = map_shared_address(shared_address(barrier), rank);
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote)
               : "memory");
}

// Announces `bytes` of asynchronous copies for the current phase, and arrives once.
__device__ inline void mbarrier_arrive_expect_tx(Mbarrier* barrier, std::uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

// Announces `bytes` without arriving.
__device__ inline void mbarrier_expect_tx(Mbarrier* barrier, std::uint32_t bytes) {
  asm volatile(
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

// Counts `bytes` as having come, without any copy.
__device__ inline void mbarrier_complete_tx(Mbarrier* barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

// True once the phase of this parity has ended (acquire, CTA scope). May suspend the thread for a
// hardware-chosen time before it answers false.
__device__ inline bool mbarrier_try_wait_parity(Mbarrier* barrier, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

// Never suspends: answers at once.
__device__ inline bool mbarrier_test_wait_parity(Mbarrier* barrier, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

// mbarrier_try_wait_parity() with acquire semantics at cluster scope.
__device__ inline bool mbarrier_try_wait_parity_cluster(Mbarrier* barrier, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

// Blocks until the phase of this parity has ended.
__device__ inline void mbarrier_wait_parity(Mbarrier* barrier, std::uint32_t parity) {
  while (!mbarrier_try_wait_parity(barrier, parity)) {
  }
}

}  // namespace assay::ptx

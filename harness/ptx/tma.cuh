// SPDX-License-Identifier: Apache-2.0
// TMA: asynchronous copies of boxes of a tensor (described by a CUtensorMap) and of plain byte
// ranges. One thread issues them. sm_90 and newer.
//
// Loads complete on an mbarrier: they subtract the box's bytes from its expected transaction bytes,
// also for the part outside the tensor, which is filled with zeros. Coordinates are in elements,
// innermost dimension first, and may be negative or beyond the end. Destination and barrier lie in
// this CTA and are named in .shared::cta: the same machine code as .shared::cluster on sm_90a and
// sm_100a, where sm_120a would add a check of the destination and a call for another CTA's.
// Stores complete in bulk groups of the issuing thread: commit, then wait. What they read from
// shared memory must have been fenced with fence_proxy_async_shared(); what lies outside the tensor
// is not written.
// PTX ISA 9.0, "Data Movement and Conversion Instructions: cp.async.bulk".
#pragma once
#include <cuda.h>

#include <cstdint>

#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/shared_address.cuh"

namespace assay::ptx {

// Fetches the 128-byte map itself, so that the first copy does not wait for it. The map is a
// __grid_constant__ kernel parameter or lies in constant or global memory.
__device__ inline void tma_prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__device__ inline void tma_load_1d(void* destination, const CUtensorMap* map, Mbarrier* barrier,
                                   int c0) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3}], [%2];" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0)
      : "memory");
}

__device__ inline void tma_load_2d(void* destination, const CUtensorMap* map, Mbarrier* barrier,
                                   int c0, int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3, %4}], [%2];" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1)
      : "memory");
}

__device__ inline void tma_load_3d(void* destination, const CUtensorMap* map, Mbarrier* barrier,
                                   int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3, %4, %5}], [%2];" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}

__device__ inline void tma_load_4d(void* destination, const CUtensorMap* map, Mbarrier* barrier,
                                   int c0, int c1, int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3, %4, %5, %6}], [%2];" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

__device__ inline void tma_load_5d(void* destination, const CUtensorMap* map, Mbarrier* barrier,
                                   int c0, int c1, int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3, %4, %5, %6, %7}], [%2];" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

// Writes the box to the same shared-memory offset of every CTA whose bit is set in `cta_mask`, and
// completes on the barrier at the same offset in each of them.
__device__ inline void tma_load_2d_multicast(void* destination, const CUtensorMap* map,
                                             Mbarrier* barrier, std::uint16_t cta_mask, int c0,
                                             int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
      "cluster [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(barrier)), "h"(cta_mask), "r"(c0), "r"(c1)
      : "memory");
}

// The same two with an L2 policy of cache_policy.cuh.
__device__ inline void tma_load_2d_hinted(void* destination, const CUtensorMap* map,
                                          Mbarrier* barrier, int c0, int c1, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "l"(policy)
      : "memory");
}
__device__ inline void tma_load_2d_multicast_hinted(void* destination, const CUtensorMap* map,
                                                    Mbarrier* barrier, std::uint16_t cta_mask,
                                                    int c0, int c1, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
      "cluster.L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3, %6;" ::"r"(
          shared_address(destination)),
      "l"(map), "r"(shared_address(barrier)), "h"(cta_mask), "r"(c0), "r"(c1), "l"(policy)
      : "memory");
}

__device__ inline void tma_store_1d(const CUtensorMap* map, const void* source, int c0) {
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%1, {%2}], [%0];" ::"r"(
                   shared_address(source)),
               "l"(map), "r"(c0)
               : "memory");
}

__device__ inline void tma_store_2d(const CUtensorMap* map, const void* source, int c0, int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(
          shared_address(source)),
      "l"(map), "r"(c0), "r"(c1)
      : "memory");
}

__device__ inline void tma_store_3d(const CUtensorMap* map, const void* source, int c0, int c1,
                                    int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %4}], [%0];" ::"r"(
          shared_address(source)),
      "l"(map), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}

__device__ inline void tma_store_4d(const CUtensorMap* map, const void* source, int c0, int c1,
                                    int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %4, %5}], [%0];" ::
          "r"(shared_address(source)),
      "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

__device__ inline void tma_store_5d(const CUtensorMap* map, const void* source, int c0, int c1,
                                    int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %4, %5, %6}], "
      "[%0];" ::"r"(shared_address(source)),
      "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

// Plain copy of `bytes` bytes (multiple of 16, both ends 16-byte aligned) from global memory.
__device__ inline void bulk_load(void* destination, const void* source, std::uint32_t bytes,
                                 Mbarrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(destination)),
      "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

// Plain copy of `bytes` bytes (multiple of 16, both ends 16-byte aligned) to global memory.
__device__ inline void bulk_store(void* destination, const void* source, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(destination)),
               "r"(shared_address(source)), "r"(bytes)
               : "memory");
}

// Closes this thread's current group of stores.
__device__ inline void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until at most kPending of this thread's newest groups have still to *read* shared memory.
template <int kPending>
__device__ inline void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Waits until at most kPending groups have still to complete, writes to global memory included.
template <int kPending>
__device__ inline void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace assay::ptx

// SPDX-License-Identifier: Apache-2.0
// Thread-block clusters: who am I, and the cluster-wide barrier. sm_90 and newer. PTX ISA 9.0,
// "Special Registers" and "barrier.cluster".
#pragma once
#include <cstdint>

namespace assay::ptx {

// blockIdx.x, read anew at each use: what is kept from one to the next takes a register.
__device__ inline int cta_index_x() {
  int index;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
  return index;
}

// Rank of this CTA in its cluster, 0 .. size - 1; x runs fastest.
__device__ inline std::uint32_t cluster_cta_rank() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// CTAs in this cluster.
__device__ inline std::uint32_t cluster_cta_count() {
  std::uint32_t count;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(count));
  return count;
}

// Index of this cluster in the grid, along x.
__device__ inline std::uint32_t cluster_id_x() {
  std::uint32_t id;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
  return id;
}

// Clusters in the grid, along x.
__device__ inline std::uint32_t cluster_count_x() {
  std::uint32_t count;
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
  return count;
}

// Arrival at the cluster barrier, with release semantics. Every thread of the cluster that has not
// exited must arrive.
__device__ inline void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

// Arrival that orders no memory: for barriers that only keep CTAs alive or in step.
__device__ inline void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

// Blocks until every thread of the cluster has arrived, with acquire semantics.
__device__ inline void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ inline void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

}  // namespace assay::ptx

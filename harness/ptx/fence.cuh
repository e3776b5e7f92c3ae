// SPDX-License-Identifier: Apache-2.0
// Fences, in two kinds. Those of a scope order this thread's memory accesses as the threads of that
// scope see them: membar.{cta,gl,sys}, and with it __threadfence() and its kin, are fence.sc. Those
// of a proxy order the generic one (ordinary loads and stores, stmatrix) against the async one
// (TMA, wgmma and tcgen05 operands), and publish fresh mbarriers: sm_90 and newer. PTX ISA 9.0,
// "Parallel Synchronization and Communication Instructions: membar / fence".
#pragma once

namespace assay::ptx {

enum class FenceScope { cta, cluster, gpu, sys };  // cluster: sm_90 and newer

// Acquire and release: what came before is seen by whoever sees what comes after.
template <FenceScope kScope>
__device__ inline void fence_acq_rel() {
  if constexpr (kScope == FenceScope::cta)
    asm volatile("fence.acq_rel.cta;" ::: "memory");
  else if constexpr (kScope == FenceScope::cluster)
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
  else if constexpr (kScope == FenceScope::gpu)
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  else
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

// Sequentially consistent: all such fences have one order.
template <FenceScope kScope>
__device__ inline void fence_sc() {
  if constexpr (kScope == FenceScope::cta)
    asm volatile("fence.sc.cta;" ::: "memory");
  else if constexpr (kScope == FenceScope::cluster)
    asm volatile("fence.sc.cluster;" ::: "memory");
  else if constexpr (kScope == FenceScope::gpu)
    asm volatile("fence.sc.gpu;" ::: "memory");
  else
    asm volatile("fence.sc.sys;" ::: "memory");
}

// Makes mbarrier_init visible to the async proxy and to the other CTAs of the cluster. A CTA or
// cluster barrier must follow before anyone uses the barriers.
__device__ inline void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Orders this thread's earlier generic accesses to shared memory before later async-proxy accesses
// to it. Every thread that wrote calls it, then a barrier, then one thread starts the copy or MMA.
__device__ inline void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The same for global memory: ordinary stores before a TMA load of what they wrote.
__device__ inline void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

// The same for all memory.
__device__ inline void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }

}  // namespace assay::ptx

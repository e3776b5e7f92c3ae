// SPDX-License-Identifier: Apache-2.0
// Fences between the generic proxy (ordinary loads and stores, stmatrix) and the async proxy (TMA,
// wgmma and tcgen05 operands), and for freshly made mbarriers. sm_90 and newer.
#pragma once

namespace assay::ptx {

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

// SPDX-License-Identifier: Apache-2.0
// Fences that order this thread's memory accesses as the threads of a scope see them. PTX ISA 9.0,
// "membar / fence". membar.{cta,gl,sys}, and with it __threadfence() and its kin, are fence.sc.
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

}  // namespace assay::ptx

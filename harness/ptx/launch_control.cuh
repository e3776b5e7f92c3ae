// SPDX-License-Identifier: Apache-2.0
// What a running CTA has to say about launches. Programmatic dependent launch: a grid that starts
// before the one it depends on has ended; sm_90 and newer. Cluster launch control: a CTA takes over
// the work of one that has not been launched yet; sm_100 and newer. PTX ISA 9.0, "griddepcontrol",
// "prefetch" and "clusterlaunchcontrol".
#pragma once
#include <cstdint>

#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/shared_address.cuh"

namespace assay::ptx {

// From this CTA's side, grids that depend programmatically on this one may start. They do once
// every CTA has said so or ended.
__device__ inline void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Blocks until the grids that this one depends on have ended and what they wrote is visible. Does
// nothing in a grid that was launched the ordinary way.
__device__ inline void wait_for_dependencies() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Brings what lies around the address to L2: what a grid may do before it waits. It is no access:
// what a grid before it writes there is seen by later loads all the same.
__device__ inline void prefetch_l2(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)) : "memory");
}

// Asks for a CTA of this grid that need not be launched any more; the answer, 16 bytes, comes to
// `response` and completes on the barrier, of which it must have been announced. One thread calls.
__device__ inline void try_cancel_launch(uint4* response, Mbarrier* barrier) {
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], "
      "[%1];" ::"r"(shared_address(response)),
      "r"(shared_address(barrier))
      : "memory");
}

// Whether the answer names a CTA, and its index along x.
__device__ inline bool cancelled_cta(const uint4* response, std::uint32_t& cta) {
  std::uint32_t cancelled;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      ".reg .b128 answer;\n"
      "ld.shared.b128 answer, [%2];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, answer;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "mov.u32 %1, 0;\n"
      "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, answer;\n"
      "}\n"
      : "=r"(cancelled), "=r"(cta)
      : "r"(shared_address(response))
      : "memory");
  return cancelled != 0;
}

}  // namespace assay::ptx

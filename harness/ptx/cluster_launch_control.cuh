// SPDX-License-Identifier: Apache-2.0
// Cluster launch control: a running CTA takes over the work of one that has not been launched yet.
// sm_100 and newer. PTX ISA 9.0, "clusterlaunchcontrol".
#pragma once
#include <cstdint>

#include "harness/ptx/mbarrier.cuh"

namespace assay::ptx {

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

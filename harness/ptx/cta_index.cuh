// SPDX-License-Identifier: Apache-2.0
// Which CTA of the grid this is, where the compiler should not keep it.
#pragma once

namespace assay::ptx {

// blockIdx.x, read anew at each use: kept from one to the next it takes a register.
__device__ inline int cta_index_x() {
  int index;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
  return index;
}

}  // namespace assay::ptx

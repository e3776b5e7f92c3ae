// SPDX-License-Identifier: Apache-2.0
// Moving registers from warpgroups that copy to warpgroups that compute. sm_90a, sm_100a, sm_120a.
//
// The kernel starts with the same count for every thread, set by __launch_bounds__(threads, 1); the
// sum over all warpgroups after the moves must not exceed it. Counts are multiples of 8 in
// [24, 256]. Every warp of a warpgroup executes the same setmaxnreg. ptxas honours it only when
// each role is one branch of a single if / else (otherwise warning C7508).
// PTX ISA 9.0, "setmaxnreg".
#pragma once

namespace assay::ptx {

// Gives registers back: this warpgroup keeps kCount per thread.
template <int kCount>
__device__ inline void setmaxnreg_decrease() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

// Takes registers: blocks until kCount per thread are free for this warpgroup.
template <int kCount>
__device__ inline void setmaxnreg_increase() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

}  // namespace assay::ptx

// SPDX-License-Identifier: Apache-2.0
// One thread out of a warp, in the form the compiler knows to be one thread. sm_90 and newer.
// PTX ISA 9.0, "elect.sync".
#pragma once
#include <cstdint>

namespace assay::ptx {

// True in exactly one lane of a converged warp. TMA and tcgen05 instructions behind it are issued
// straight; behind `lane == 0` ptxas wraps each in a loop over the active lanes.
__device__ inline bool elect_one() {
  std::uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(elected));
  return elected != 0;
}

}  // namespace assay::ptx

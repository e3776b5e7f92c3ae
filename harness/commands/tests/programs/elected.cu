// SPDX-License-Identifier: Apache-2.0
// Thread 0 counts on being the one that elect.sync elects, which no manual says.
#include "harness/ptx/elect.cuh"

extern "C" __global__ void elected(unsigned* out) {
  __shared__ unsigned word;
  if (threadIdx.x == 0) word = 0;
  __syncwarp();
  if (assay::ptx::elect_one()) word = 1;
  if (threadIdx.x == 0) *out = word;
}

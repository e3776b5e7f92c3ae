// SPDX-License-Identifier: Apache-2.0
// Kernels in a chain: the second may begin before the first has ended, and one of its forms does
// not wait.
#include "harness/ptx/launch_control.cuh"

extern "C" __global__ void first(const float* in, float* sums) {
  assay::ptx::launch_dependents();
  sums[blockIdx.x * blockDim.x + threadIdx.x] = 2 * in[blockIdx.x * blockDim.x + threadIdx.x];
}

extern "C" __global__ void waits(const float* sums, float* out) {
  assay::ptx::wait_for_dependencies();
  out[threadIdx.x] = sums[threadIdx.x] + 1;
}

extern "C" __global__ void does_not(const float* sums, float* out) {
  out[threadIdx.x] = sums[threadIdx.x] + 1;
  assay::ptx::wait_for_dependencies();
}

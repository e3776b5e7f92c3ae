// SPDX-License-Identifier: Apache-2.0
// Bugs that were found in published kernels, made again as small kernels: grids that begin while
// the one before them may still be under way (programmatic dependent launch). Each is there as it
// was reported and mended. The line that the model must name is marked with the rule it must name
// it by.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/tma.cuh"

using namespace assay::ptx;

// What is launched before each of them: it lets the next grid begin at once, and writes `sums`.
extern "C" __global__ void writes_sums(const float* in, float* sums, float*) {
  launch_dependents();
  wait_for_dependencies();
  sums[threadIdx.x] = in[threadIdx.x] * 2;
}

// It reads `sums`.
extern "C" __global__ void reads_sums(const float* in, float* sums, float* out) {
  launch_dependents();
  wait_for_dependencies();
  out[threadIdx.x] = sums[threadIdx.x] + in[threadIdx.x];
}

// It has nothing to do with `sums`, and does not wait either.
extern "C" __global__ void between(const float*, float*, float*) { launch_dependents(); }

// It lets the next grid begin when those before it have ended, and writes `out`.
extern "C" __global__ void lets_begin_late(const float*, float*, float* out) {
  wait_for_dependencies();
  launch_dependents();
  out[threadIdx.x] = 1;
}

namespace {

// https://github.com/Dao-AILab/flash-attention/pull/2498: the warp that loads what the kernel
// before computed does not wait for it.
template <bool kMended>
__global__ void flash_attention_2498(const float*, const float* sums, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x < 32 && elect_one()) {
    if (kMended) wait_for_dependencies();
    mbarrier_arrive_expect_tx(&full, kBytes);
    bulk_load(tile, sums, kBytes, &full);  // <- grid.before_wait
  }
  mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// https://github.com/NVIDIA/cutlass/issues/2962: the scheduler, made before the wait, reads the
// shape of the first problem.
template <bool kMended>
__global__ void cutlass_2962(const float* in, const float* shapes, float* out) {
  if (kMended) wait_for_dependencies();
  const float first = shapes[0];  // <- grid.before_wait
  if (!kMended) wait_for_dependencies();
  out[threadIdx.x] = in[threadIdx.x] + first + shapes[threadIdx.x];
}

// https://github.com/Dao-AILab/quack/issues/206: the load warp waits, the others read where groups
// begin without.
template <bool kMended>
__global__ void quack_206(const float* in, const float* begins, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x < 32) {
    wait_for_dependencies();
    if (elect_one() && begins[0] < 1e9f) {
      mbarrier_arrive_expect_tx(&full, kBytes);
      bulk_load(tile, in, kBytes, &full);
    }
    return;
  }
  if (kMended) wait_for_dependencies();
  const float begin = begins[threadIdx.x];  // <- grid.before_wait
  if (begin < 1e9f) mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// https://github.com/pytorch/pytorch/pull/166741: reads wait, and writes do not, to what the grid
// before may still read.
template <bool kMended>
__global__ void pytorch_166741(const float* in, float* sums, float*) {
  if (kMended) wait_for_dependencies();
  sums[threadIdx.x] = in[threadIdx.x];  // <- grid.before_wait
}

// Waits for the grid before it, which did not wait for the one before that.
template <bool kMended>
__global__ void passed_over(const float* in, const float* sums, float* out) {
  wait_for_dependencies();
  const float* from = kMended ? in : sums;
  out[threadIdx.x] = from[threadIdx.x];  // <- grid.before_wait
}

// Reads `sums`, whose grid has ended, and what the grid before it still writes.
template <bool kMended>
__global__ void begun_late(const float*, const float* sums, float* out) {
  const float sum = sums[threadIdx.x];
  if (kMended) wait_for_dependencies();
  out[threadIdx.x] += sum;  // <- grid.before_wait
}

// Each exists twice.
template __global__ void flash_attention_2498<false>(const float*, const float*, float*);
template __global__ void flash_attention_2498<true>(const float*, const float*, float*);
template __global__ void cutlass_2962<false>(const float*, const float*, float*);
template __global__ void cutlass_2962<true>(const float*, const float*, float*);
template __global__ void quack_206<false>(const float*, const float*, float*);
template __global__ void quack_206<true>(const float*, const float*, float*);
template __global__ void pytorch_166741<false>(const float*, float*, float*);
template __global__ void pytorch_166741<true>(const float*, float*, float*);
template __global__ void passed_over<false>(const float*, const float*, float*);
template __global__ void passed_over<true>(const float*, const float*, float*);
template __global__ void begun_late<false>(const float*, const float*, float*);
template __global__ void begun_late<true>(const float*, const float*, float*);

}  // namespace

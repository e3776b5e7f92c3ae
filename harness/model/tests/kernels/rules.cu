// SPDX-License-Identifier: Apache-2.0
// Bugs that other kernels here have not, each with its mend, for rules that nothing else breaks.
// The line that the model must name is marked with the rule it must name it by.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/tma.cuh"

namespace {

using namespace assay::ptx;

// Two phases end while a warp sleeps in its wait for the first: it wakes to the wrong parity.
template <bool kMended>
__global__ void overrun(float* out) {
  __shared__ Mbarrier told, heard;
  make_barrier(&told, 1);
  make_barrier(&heard, kThreads - 32);
  if (threadIdx.x < 32) {
    if (elect_one()) {
      mbarrier_arrive(&told);
      if (kMended) mbarrier_wait_parity(&heard, 0);
      mbarrier_arrive(&told);
    }
    return;
  }
  mbarrier_wait_parity(&told, 0);  // <- mbarrier.overrun
  if (kMended) mbarrier_arrive(&heard);
  out[threadIdx.x] = 1;
}

// A barrier is given up while bytes are on their way to it.
template <bool kMended>
__global__ void given_up(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, kBytes);
    bulk_load(tile, in, kBytes, &full);
    if (kMended) mbarrier_wait_parity(&full, 0);
    mbarrier_invalidate(&full);  // <- mbarrier.inval_pending
    out[0] = tile[0];
  }
}

// The storage of a barrier becomes an ordinary number.
template <bool kMended>
__global__ void reused(float* out) {
  __shared__ Mbarrier barrier;
  make_barrier(&barrier, kThreads);
  mbarrier_arrive(&barrier);
  mbarrier_wait_parity(&barrier, 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (kMended) mbarrier_invalidate(&barrier);
    auto* number = reinterpret_cast<volatile std::uint64_t*>(&barrier);
    *number = 5;  // <- mbarrier.overwritten
    out[0] = static_cast<float>(*number);
  }
}

// The CTA is gone before its copy is done.
template <bool kMended>
__global__ void gone(const float* in, float*) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, kBytes);
    bulk_load(tile, in, kBytes, &full);  // <- exit.pending
    if (kMended) mbarrier_wait_parity(&full, 0);
  }
}

// An arrival at a CTA that may be gone.
template <bool kMended>
__global__ void __cluster_dims__(2, 1, 1) too_late(float* out) {
  __shared__ Mbarrier barrier;
  make_barrier(&barrier, 1);
  cluster_sync();
  if (threadIdx.x == 0 && cluster_cta_rank() == 0) {
    out[0] = 1;
    mbarrier_arrive_remote(&barrier, 1);  // <- cluster.left
  }
  if (kMended) cluster_sync();
}

// Each exists twice.
template __global__ void overrun<false>(float*);
template __global__ void overrun<true>(float*);
template __global__ void given_up<false>(const float*, float*);
template __global__ void given_up<true>(const float*, float*);
template __global__ void reused<false>(float*);
template __global__ void reused<true>(float*);
template __global__ void gone<false>(const float*, float*);
template __global__ void gone<true>(const float*, float*);
template __global__ void too_late<false>(float*);
template __global__ void too_late<true>(float*);

}  // namespace

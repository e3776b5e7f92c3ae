// SPDX-License-Identifier: Apache-2.0
// A kernel on the CUDA C++ library's barriers and copies.
#include <cuda/barrier>

#include "harness/model/tests/kernels/block.cuh"

using namespace assay::ptx;

extern "C" __global__ void library_barrier(const float* in, float* out, int turns) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(128) float tiles[2][kThreads];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full[2];
  if (threadIdx.x == 0) {
    init(&full[0], kThreads);
    init(&full[1], kThreads);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  for (int i = 0; i < turns; ++i) {
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
      cuda::device::experimental::cp_async_bulk_global_to_shared(tiles[i % 2], in + i * kThreads,
                                                                 kBytes, full[i % 2]);
      token = cuda::device::barrier_arrive_tx(full[i % 2], 1, kBytes);
    } else {
      token = full[i % 2].arrive();
    }
    full[i % 2].wait(std::move(token));
    out[i * kThreads + threadIdx.x] = tiles[i % 2][threadIdx.x] * 2;
    cuda::device::experimental::fence_proxy_async_shared_cta();
    __syncthreads();
  }
}

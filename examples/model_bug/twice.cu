// SPDX-License-Identifier: Apache-2.0
// out = 2 * in, 128 floats at a time: a bulk copy in, a bulk copy out.
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/tma.cuh"

using namespace assay::ptx;

extern "C" __global__ void twice(const float* in, float* out, int turns) {
  __shared__ alignas(16) float tile[128];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  for (int i = 0; i < turns; ++i) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&full, sizeof tile);
      bulk_load(tile, in + i * 128, sizeof tile, &full);
    }
    mbarrier_wait_parity(&full, i & 1);
    tile[threadIdx.x] *= 2;
    fence_proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      bulk_store(out + i * 128, tile, sizeof tile);
      bulk_commit();
    }
  }
  if (threadIdx.x == 0) bulk_wait<0>();
}

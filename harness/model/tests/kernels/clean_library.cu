// SPDX-License-Identifier: Apache-2.0
// Kernels on the CUDA C++ library's barriers, pipelines and copies, and on cooperative groups:
// right ones, which compute out = 2 * in.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "harness/model/tests/kernels/block.cuh"

using namespace assay::ptx;
namespace cg = cooperative_groups;

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

// What another CTA of the cluster has is read by a generic address.
extern "C" __global__ void __cluster_dims__(4, 1, 1) library_cluster(const float* in, float* out) {
  __shared__ float tile[kThreads];
  auto cluster = cg::this_cluster();
  tile[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 3;
  const float* theirs = cluster.map_shared_rank(tile, other);
  out[other * kThreads + threadIdx.x] = 2 * theirs[threadIdx.x];
  cluster.sync();
}

extern "C" __global__ void library_grid(const float* in, float* out, float* between) {
  auto grid = cg::this_grid();
  between[grid.thread_rank()] = in[grid.thread_rank()];
  grid.sync();
  const auto other = grid.num_threads() - 1 - grid.thread_rank();
  out[other] = 2 * between[other];
}

// Two stages of cp.async, by the whole block.
extern "C" __global__ void library_pipeline(const float* in, float* out, int turns) {
  __shared__ float tiles[2][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int issued = 0;
  for (int i = 0; i < turns; ++i) {
    for (; issued < turns && issued < i + 2; ++issued) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tiles[issued % 2], in + issued * kThreads,
                         cuda::aligned_size_t<16>(kBytes), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[i * kThreads + (threadIdx.x ^ 3)] = 2 * tiles[i % 2][threadIdx.x ^ 3];
    pipeline.consumer_release();
  }
}

// Groups of cp.async, waited for by the block: the older one alone, then both.
extern "C" __global__ void library_copies(const float* in, float* out) {
  __shared__ float tiles[2][kThreads];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tiles[0], in, sizeof tiles[0]);
  cg::memcpy_async(block, tiles[1], in + kThreads, sizeof tiles[1]);
  cg::wait_prior<1>(block);
  out[threadIdx.x ^ 1] = 2 * tiles[0][threadIdx.x ^ 1];
  cg::wait(block);
  out[kThreads + (threadIdx.x ^ 1)] = 2 * tiles[1][threadIdx.x ^ 1];
}

// SPDX-License-Identifier: Apache-2.0
// Bugs that were found in published kernels, made again as small kernels: who arrives how often,
// how many bytes come, which barrier it is, and clusters. Each is there as it was reported and
// mended. The line that the model must name is marked with the rule it must name it by.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "harness/ptx/wgmma.cuh"

namespace {

using namespace assay::ptx;

// https://github.com/inclusionAI/humming/pull/56: the leader multicasts the next tile when its own
// CTA has left the last one, and the other CTA may still use it.
template <bool kMended>
__global__ void __cluster_dims__(2, 1, 1) humming_56(const float* in, float* out, int tiles) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  init_barriers(&full, 1, 1);
  cluster_sync();
  for (int i = 0; i < tiles; ++i) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&full, kBytes);
      if (cluster_cta_rank() == 0) {
        const float* from = in + i * kThreads;
        bulk_load_multicast(tile, from, kBytes, &full, 3);  // <- async.overwrites_unread
      }
    }
    mbarrier_wait_parity(&full, i & 1);
    out[(2 * i + cluster_cta_rank()) * kThreads + threadIdx.x] = tile[threadIdx.x];
    fence_proxy_async_shared();
    if (kMended)
      cluster_sync();
    else
      __syncthreads();
  }
  cluster_sync();
}

// https://github.com/apache/tvm/pull/20074: an arrival of the form for the CTA's own barriers, at
// the address of another CTA's.
template <bool kMended>
__global__ void __cluster_dims__(2, 1, 1) tvm_20074(float* out) {
  __shared__ Mbarrier ready;
  init_barriers(&ready, 1, kThreads);
  cluster_sync();
  const std::uint32_t other = cluster_cta_rank() ^ 1;
  if (kMended) {
    mbarrier_arrive_remote(&ready, other);
  } else {
    const std::uint32_t theirs = map_shared_address(shared_address(&ready), other);
    asm volatile(
        "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(theirs));  // <- cluster.own_shared
  }
  mbarrier_wait_parity(&ready, 0);
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
  cluster_sync();
}

// https://github.com/NVIDIA/cutlass/issues/2364: a function whose name says that it makes a barrier
// announces bytes, and nothing makes it.
template <bool kMended>
__global__ void cutlass_2364(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) {
    if (kMended) mbarrier_init(&full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full, kBytes);  // <- mbarrier.uninitialized
    bulk_load(tile, in, kBytes, &full);
  }
  __syncthreads();
  mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// https://github.com/deepseek-ai/DeepEP/pull/293: the barrier is made for one arrival, and all
// lanes of the warp arrive.
template <bool kMended>
__global__ void deepep_293(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) {
      mbarrier_expect_tx(&full, kBytes);
      bulk_load(tile, in, kBytes, &full);
    }
    __syncwarp();
    if (!kMended || threadIdx.x == 0) mbarrier_arrive(&full);  // <- mbarrier.too_many_arrivals
  }
  mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// https://github.com/NVIDIA/cutlass/issues/2672: barriers have the numbers 0 to 15.
template <bool kMended>
__global__ void cutlass_2672(const float* in, float* out, int first) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  const int number = kMended ? first % 16 : first;
  named_barrier_sync(number, kThreads);  // <- barrier.number
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

// https://github.com/tile-ai/tilelang/issues/2644: the bytes of a CTA times the CTAs of the cluster
// are announced, and what comes is from a pair of them.
template <bool kMended>
__global__ void __cluster_dims__(4, 1, 1) tilelang_2644(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  constexpr int kHalf = kThreads / 2;
  constexpr std::uint32_t kMine = kBytes / 2;
  const int rank = static_cast<int>(cluster_cta_rank()), half = rank % 2 * kHalf;
  init_barriers(&full, 1, 1);
  cluster_sync();
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, kMine * (kMended ? 2 : cluster_cta_count()));
    const auto pair = static_cast<std::uint16_t>(3 << (rank & ~1));
    bulk_load_multicast(tile + half, in + half, kMine, &full, pair);
  }
  mbarrier_wait_parity(&full, 0);  // <- deadlock
  out[rank * kThreads + threadIdx.x] = tile[threadIdx.x];
  cluster_sync();
}

// https://github.com/inclusionAI/cuLA/pull/114: what stmatrix wrote is stored asynchronously, with
// no fence between.
template <bool kMended>
__global__ void cula_114(std::uint8_t* out) {
  __shared__ alignas(128) std::uint8_t tile[4][512];
  const std::uint32_t words[4] = {threadIdx.x, 1, 2, 3};
  stmatrix_x4(shared_address(tile[threadIdx.x / 32] + threadIdx.x % 32 * 16), words);
  if (kMended) fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(out, tile, sizeof tile);  // <- proxy.shared
    bulk_commit();
    bulk_wait<0>();
  }
}

// https://github.com/NVIDIA/Fuser/issues/3561: the stage is handed back with no wait for the wgmma
// that reads it.
template <bool kMended>
__global__ void fuser_3561(const std::uint16_t* in, float* out, int turns) {
  __shared__ alignas(1024) std::uint16_t a[64 * 64];
  __shared__ Mbarrier full, empty;
  make_barriers(&full, 1, 1);
  make_barriers(&empty, 1, kThreads);
  float d[32];
  const std::uint64_t of_a = encode_k_major_128b(shared_address(a));
  wgmma_fence();
  for (int i = 0; i < turns; ++i) {
    if (threadIdx.x == 0) {
      mbarrier_wait_parity(&empty, (i & 1) ^ 1);
      mbarrier_arrive_expect_tx(&full, sizeof a);
      bulk_load(a, in, sizeof a, &full);  // <- async.overwritten_while_read
    }
    __syncwarp();
    mbarrier_wait_parity(&full, i & 1);
    __syncwarp();
    wgmma<WgmmaTypes::bf16>(d, of_a, of_a, i > 0);
    wgmma_commit();
    if (kMended) wgmma_wait<0>();
    mbarrier_arrive(&empty);
  }
  wgmma_wait<0>();
  for (int i = 0; i < 32; ++i) out[threadIdx.x * 32 + i] = d[i];
}

// Each exists twice.
template __global__ void humming_56<false>(const float*, float*, int);
template __global__ void humming_56<true>(const float*, float*, int);
template __global__ void tvm_20074<false>(float*);
template __global__ void tvm_20074<true>(float*);
template __global__ void cutlass_2364<false>(const float*, float*);
template __global__ void cutlass_2364<true>(const float*, float*);
template __global__ void deepep_293<false>(const float*, float*);
template __global__ void deepep_293<true>(const float*, float*);
template __global__ void cutlass_2672<false>(const float*, float*, int);
template __global__ void cutlass_2672<true>(const float*, float*, int);
template __global__ void tilelang_2644<false>(const float*, float*);
template __global__ void tilelang_2644<true>(const float*, float*);
template __global__ void cula_114<false>(std::uint8_t*);
template __global__ void cula_114<true>(std::uint8_t*);
template __global__ void fuser_3561<false>(const std::uint16_t*, float*, int);
template __global__ void fuser_3561<true>(const std::uint16_t*, float*, int);

}  // namespace

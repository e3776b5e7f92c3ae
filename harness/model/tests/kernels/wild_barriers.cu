// SPDX-License-Identifier: Apache-2.0
// Bugs that were found in published kernels, made again as small kernels: barriers, clusters and
// wgmma. Each is there as it was reported and mended. The line that the model must name is marked
// with the rule it must name it by.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/wgmma.cuh"

namespace {

using namespace assay::ptx;

// PyFR/GiMMiK issue 23: consumers take the turn's parity for the ring's, and lap the producer.
template <bool kMended>
__global__ void gimmik_23(const float* in, float* out, int turns) {
  constexpr int kStages = 2;
  __shared__ alignas(16) float ring[kStages][kThreads];
  __shared__ Mbarrier full[kStages], empty[kStages];
  make_barriers(full, kStages, 1);
  make_barriers(empty, kStages, kThreads);
  for (int i = 0; i < turns; ++i) {
    const int stage = i % kStages, round = i / kStages;
    if (threadIdx.x == 0) {
      mbarrier_wait_parity(&empty[stage], (round & 1) ^ 1);
      mbarrier_arrive_expect_tx(&full[stage], kBytes);
      bulk_load(ring[stage], in + i * kThreads, kBytes, &full[stage]);
    }
    mbarrier_wait_parity(&full[stage], (kMended ? round : i) & 1);
    out[i * kThreads + threadIdx.x] = ring[stage][threadIdx.x];  // <- async.read_before_complete
    fence_proxy_async_shared();
    mbarrier_arrive(&empty[stage]);
  }
}

// facebookexperimental/CUTracer pull request 106: the wait comes after the data is used.
template <bool kMended>
__global__ void cutracer_106(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barriers(&full, 1, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, kBytes);
    bulk_load(tile, in, kBytes, &full);
  }
  __syncthreads();
  if (kMended) mbarrier_wait_parity(&full, 0);
  const float value = tile[threadIdx.x];  // <- async.read_before_complete
  if (!kMended) mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = value;
}

// vllm-project/vllm pull request 26026: with nothing to compute a warp only arrives, comes around
// and arrives again for the next tile before the load warp has been there.
template <bool kMended>
__global__ void vllm_26026(const int* work, float* out, int tiles) {
  const bool loads = threadIdx.x < 32;
  for (int tile = 0; tile < tiles; ++tile) {
    if (loads) {
      out[tile * 32 + threadIdx.x] = static_cast<float>(tile);
      named_barrier_sync(1, kThreads);
      continue;
    }
    if (work[tile] == 0) {
      if (kMended)
        named_barrier_sync(1, kThreads);
      else
        named_barrier_arrive(1, kThreads);  // <- barrier.arrived_twice
      continue;
    }
    named_barrier_sync(1, kThreads);
  }
}

// tile-ai/tilelang issue 2566: the bytes are announced, and no one arrives.
template <bool kMended>
__global__ void tilelang_2566(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barriers(&full, 1, 1);
  if (threadIdx.x == 0) {
    mbarrier_expect_tx(&full, kBytes);
    bulk_load(tile, in, kBytes, &full);
    if (kMended) mbarrier_arrive(&full);
  }
  mbarrier_wait_parity(&full, 0);  // <- deadlock
  out[threadIdx.x] = tile[threadIdx.x];
}

// A 64 x 64 operand of bf16 under the 128-byte swizzle: every element is one, so that its place
// does not matter.
__device__ void fill_with_ones(std::uint32_t* operand) {
  for (int i = static_cast<int>(threadIdx.x); i < 64 * 32; i += static_cast<int>(blockDim.x))
    operand[i] = 0x3f803f80;
}

// tile-ai/tilelang issue 2634: operands written by ordinary stores, no proxy fence before the
// wgmma.
template <bool kMended>
__global__ void tilelang_2634(float* out) {
  __shared__ alignas(1024) std::uint32_t a[64 * 32];
  __shared__ alignas(1024) std::uint32_t b[64 * 32];
  fill_with_ones(a);
  fill_with_ones(b);
  if (kMended) fence_proxy_async_shared();
  __syncthreads();
  float d[32];
  wgmma_fence();
  const std::uint64_t of_a = encode_k_major_128b(shared_address(a));
  const std::uint64_t of_b = encode_k_major_128b(shared_address(b));
  wgmma<WgmmaTypes::bf16>(d, of_a, of_b, false);  // <- proxy.shared
  wgmma_commit();
  wgmma_wait<0>();
  for (int i = 0; i < 32; ++i) out[threadIdx.x * 32 + i] = d[i];
}

// tile-ai/tilelang issue 2613: two warpgroups multiply with one operand. One is done and fills it
// again, while the other's wgmma may still read it.
template <bool kMended>
__global__ void tilelang_2613(float* out) {
  __shared__ alignas(1024) std::uint32_t a[64 * 32];
  float d[32];
  for (int i = 0; i < 2; ++i) {
    fill_with_ones(a);  // <- async.overwritten_while_read
    fence_proxy_async_shared();
    __syncthreads();
    wgmma_fence();
    wgmma<WgmmaTypes::bf16>(d, encode_k_major_128b(shared_address(a)),
                            encode_k_major_128b(shared_address(a)), i > 0);
    wgmma_commit();
    wgmma_wait<0>();
    if (kMended) __syncthreads();
  }
  for (int i = 0; i < 32; ++i) out[threadIdx.x * 32 + i] = d[i];
}

// triton-lang/triton pull request 9413: a CTA may be gone while its neighbour reads its memory.
template <bool kMended>
__global__ void __cluster_dims__(2, 1, 1) triton_9413(float* out) {
  __shared__ float mine[kThreads];
  mine[threadIdx.x] = static_cast<float>(cluster_cta_rank() + 1);
  cluster_sync();
  const std::uint32_t theirs =
      map_shared_address(shared_address(mine + threadIdx.x), cluster_cta_rank() ^ 1);
  const std::uint32_t word = cluster_load_weak_u32(theirs);  // <- cluster.left
  out[blockIdx.x * kThreads + threadIdx.x] = __uint_as_float(word);
  if (kMended) cluster_sync();
}

// facebookexperimental/triton pull request 2292: a store to a CTA of the cluster that may not have
// begun, and whose own first writes come later.
template <bool kMended>
__global__ void __cluster_dims__(2, 1, 1) triton_2292(float* out) {
  __shared__ alignas(16) float box[4 * kThreads];
  for (int i = 0; i < 4; ++i) box[threadIdx.x * 4 + i] = -1;
  if (kMended) cluster_sync();
  const std::uint32_t theirs =
      map_shared_address(shared_address(box + threadIdx.x * 4), cluster_cta_rank() ^ 1);
  cluster_store_v4(theirs, make_uint4(1, 2, 3, blockIdx.x));  // <- cluster.not_begun
  cluster_sync();
  for (int i = 0; i < 4; ++i)
    out[(blockIdx.x * kThreads + threadIdx.x) * 4 + i] = box[threadIdx.x * 4 + i];
}

// Each exists twice.
template __global__ void gimmik_23<false>(const float*, float*, int);
template __global__ void gimmik_23<true>(const float*, float*, int);
template __global__ void cutracer_106<false>(const float*, float*);
template __global__ void cutracer_106<true>(const float*, float*);
template __global__ void vllm_26026<false>(const int*, float*, int);
template __global__ void vllm_26026<true>(const int*, float*, int);
template __global__ void tilelang_2566<false>(const float*, float*);
template __global__ void tilelang_2566<true>(const float*, float*);
template __global__ void tilelang_2634<false>(float*);
template __global__ void tilelang_2634<true>(float*);
template __global__ void tilelang_2613<false>(float*);
template __global__ void tilelang_2613<true>(float*);
template __global__ void triton_9413<false>(float*);
template __global__ void triton_9413<true>(float*);
template __global__ void triton_2292<false>(float*);
template __global__ void triton_2292<true>(float*);

}  // namespace

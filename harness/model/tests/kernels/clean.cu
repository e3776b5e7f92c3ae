// SPDX-License-Identifier: Apache-2.0
// Kernels that are right, each with another way to synchronize: the model must not complain of them
// in whatever order things happen. Most compute out = 2 * in, which a test checks.
#include <cooperative_groups.h>

#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/cp_async.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "harness/ptx/wgmma.cuh"

using namespace assay::ptx;

// A warp fills a ring by tensor copies, four take from it. Any number of turns.
extern "C" __global__ void ring(const float*, float* out, int turns,
                                const __grid_constant__ CUtensorMap map) {
  constexpr int kStages = 3;
  __shared__ alignas(128) float stages[kStages][kThreads];
  __shared__ Mbarrier full[kStages], empty[kStages];
  init_barriers(full, kStages, 1);
  init_barriers(empty, kStages, 4);
  __syncthreads();
  if (threadIdx.x >= kThreads) {
    if (elect_one()) {
      tma_prefetch_map(&map);
      for (int i = 0; i < turns; ++i) {
        const int stage = i % kStages;
        mbarrier_wait_parity(&empty[stage], i / kStages & 1 ^ 1);
        mbarrier_arrive_expect_tx(&full[stage], kBytes);
        tma_load_1d(stages[stage], &map, &full[stage], i * kThreads);
      }
    }
    return;
  }
  for (int i = 0; i < turns; ++i) {
    const int stage = i % kStages;
    mbarrier_wait_parity(&full[stage], i / kStages & 1);
    const float value = stages[stage][threadIdx.x];
    fence_proxy_async_shared();
    __syncwarp();
    if (elect_one()) mbarrier_arrive(&empty[stage]);
    out[i * kThreads + threadIdx.x] = value * 2;
  }
}

// Two CTAs, each of which loads half of every box for both.
extern "C" __global__ void __cluster_dims__(2, 1, 1)
    multicast_ring(const float* in, float* out, int turns) {
  constexpr int kStages = 2;
  __shared__ alignas(128) float stages[kStages][kThreads];
  __shared__ Mbarrier full[kStages], empty[kStages];
  const std::uint32_t rank = cluster_cta_rank();
  init_barriers(full, kStages, 1);
  init_barriers(empty, kStages, 2 * kThreads);
  cluster_arrive_relaxed();  // fence_mbarrier_init() has released what matters
  cluster_wait();
  for (int i = 0; i < turns; ++i) {
    const int stage = i % kStages, half = static_cast<int>(rank) * kThreads / 2;
    if (threadIdx.x == 0) {
      mbarrier_wait_parity(&empty[stage], i / kStages & 1 ^ 1);
      mbarrier_arrive_expect_tx(&full[stage], kBytes);
      bulk_load_multicast(stages[stage] + half, in + i * kThreads + half, kBytes / 2, &full[stage],
                          3);
    }
    mbarrier_wait_parity(&full[stage], i / kStages & 1);
    const float value = stages[stage][threadIdx.x];
    fence_proxy_async_shared();
    mbarrier_arrive_remote(&empty[stage], 0);
    mbarrier_arrive_remote(&empty[stage], 1);
    if (rank == static_cast<std::uint32_t>(i & 1)) out[i * kThreads + threadIdx.x] = value * 2;
  }
  cluster_sync();
}

// Two warpgroups take turns by named barriers; each leaves its part by a bulk store.
extern "C" __global__ void ping_pong(const float* in, float* out, int turns) {
  __shared__ alignas(128) float buffers[2][kThreads];
  const int group = static_cast<int>(threadIdx.x) / kThreads,
            thread = static_cast<int>(threadIdx.x) % kThreads;
  if (group == 1) named_barrier_arrive(1, 2 * kThreads);
#pragma unroll 1
  for (int i = group; i < turns; i += 2) {
    named_barrier_sync(1 + group, 2 * kThreads);
    if (thread == 0) bulk_wait_read<0>();
    named_barrier_sync(3 + group, kThreads);
    buffers[group][thread] = in[i * kThreads + thread] * 2;
    fence_proxy_async_shared();
    named_barrier_sync(3 + group, kThreads);
    if (thread == 0) {
      bulk_store(out + i * kThreads, buffers[group], kBytes);
      bulk_commit();
    }
    if (i + 1 < turns) named_barrier_arrive(2 - group, 2 * kThreads);
  }
  if (thread == 0) bulk_wait<0>();
}

// Partial sums to the first CTA of the cluster, by st.async and by remote arrivals.
extern "C" __global__ void __cluster_dims__(4, 1, 1)
    cluster_reduction(const float* in, float* out) {
  __shared__ alignas(16) float partial[4][kThreads][4];
  __shared__ Mbarrier came, read;
  init_barriers(&came, 1, 1);
  init_barriers(&read, 1, 3);
  cluster_sync();
  const std::uint32_t rank = cluster_cta_rank();
  const float mine = in[blockIdx.x * kThreads + threadIdx.x];
  if (rank != 0) {
    const std::uint32_t to = map_shared_address(shared_address(partial[rank][threadIdx.x]), 0);
    const std::uint32_t barrier = map_shared_address(shared_address(&came), 0);
    cluster_store_async_v4(to, make_uint4(__float_as_uint(mine), 0, 0, 0), barrier);
    if (threadIdx.x == 0) mbarrier_arrive_remote_release(&read, 0);
  } else {
    if (threadIdx.x == 0) mbarrier_arrive_expect_tx(&came, 3 * kThreads * 16);
    mbarrier_wait_parity(&came, 0);
    mbarrier_wait_parity(&read, 0);
    out[threadIdx.x] =
        mine + partial[1][threadIdx.x][0] + partial[2][threadIdx.x][0] + partial[3][threadIdx.x][0];
  }
  cluster_sync();
}

// Two CTAs hand each other values by ordinary stores to the other's shared memory: arrival and wait
// at the cluster's scope. What was only read is handed back at the CTA's.
extern "C" __global__ void __cluster_dims__(2, 1, 1)
    neighbours(const float* in, float* out, int turns) {
  __shared__ alignas(16) float given[kThreads][4];
  __shared__ Mbarrier full, empty;
  init_barriers(&full, 1, kThreads);
  init_barriers(&empty, 1, kThreads);
  cluster_sync();
  const int rank = static_cast<int>(cluster_cta_rank()), other = rank ^ 1;
  const int thread = static_cast<int>(threadIdx.x);
  const std::uint32_t to = map_shared_address(shared_address(given[kThreads - 1 - thread]), other);
  for (int i = 0; i < turns; ++i) {
    mbarrier_wait_parity(&empty, i & 1 ^ 1);
    const float mine = in[(2 * i + rank) * kThreads + thread];
    cluster_store_v4(to, make_uint4(__float_as_uint(mine), 0, 0, 0));
    mbarrier_arrive_remote_release(&full, other);
    while (!mbarrier_try_wait_parity_cluster(&full, i & 1)) {
    }
    out[(2 * i + other) * kThreads + kThreads - 1 - thread] = given[thread][0] * 2;
    mbarrier_arrive_remote(&empty, other);
  }
  cluster_sync();
}

// A cooperative grid of more CTAs than the model has under way at first: two barriers of all.
extern "C" __global__ void whole_grid(const float* in, float* out) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x, count = gridDim.x * kThreads;
  out[i] = in[count - 1 - i];
  cooperative_groups::this_grid().sync();
  const float other = out[count - 1 - i];
  cooperative_groups::this_grid().sync();
  out[i] = other * 2;
}

// The last CTA to come adds what all have left: the fence and the counter order it.
extern "C" __global__ void split_k(const float* in, float* partial, std::uint32_t* count,
                                   float* out) {
  __shared__ bool last;
  partial[blockIdx.x * kThreads + threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i * kThreads + threadIdx.x];
  out[threadIdx.x] = sum;
}

// Each CTA waits for the one before it, and passes on its sum.
extern "C" __global__ void chained(const float* in, float* out, std::uint32_t* flags) {
  const unsigned b = blockIdx.x;
  float sum = in[b * kThreads + threadIdx.x];
  if (b > 0) {
    while (load_acquire(flags + b - 1) != kThreads) {
    }
    sum += out[(b - 1) * kThreads + threadIdx.x];
  }
  out[b * kThreads + threadIdx.x] = sum;
  increment_release(flags + b);
}

// A persistent kernel: tickets, and two buffers of stores.
extern "C" __global__ void persistent(const float* in, float* out, int tiles, int* ticket) {
  __shared__ alignas(128) float buffers[2][kThreads];
  __shared__ int next;
  for (int turn = 0;; ++turn) {
    if (threadIdx.x == 0) {
      next = atomicAdd(ticket, 1);
      bulk_wait_read<1>();
    }
    __syncthreads();
    const int tile = next;
    if (tile >= tiles) break;
    float* buffer = buffers[turn & 1];
    buffer[threadIdx.x] = in[tile * kThreads + threadIdx.x] * 2;
    fence_proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      bulk_store(out + tile * kThreads, buffer, kBytes);
      bulk_commit();
    }
  }
  if (threadIdx.x == 0) bulk_wait<0>();
}

// What lanes of a warp tell each other, and a sum over the CTA.
extern "C" __global__ void warp_reduction(const float* in, float* out) {
  __shared__ float sums[kThreads / 32];
  const unsigned lane = threadIdx.x % 32;
  float sum = in[threadIdx.x];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  const unsigned odd = __ballot_sync(0xffffffff, lane & 1);
  const unsigned same = __match_any_sync(0xffffffff, lane / 4);
  const unsigned most = __reduce_max_sync(0xffffffff, lane);
  if (lane == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  if (lane < 16) {
    sum = lane < kThreads / 32 ? sums[lane] : 0;
    for (int step = 8; step > 0; step /= 2) sum += __shfl_down_sync(0xffff, sum, step);
  }
  if (lane == 0)
    out[0] = odd == 0xaaaaaaaa && same == 0xf && most == 31 ? sum : __int_as_float(0x7fc00000);
}

// A pipeline of cp.async, ldmatrix and mma.sync: each warp 16 rows of A with all 8 of B.
extern "C" __global__ void cp_async_mma(const std::uint16_t* a, const std::uint16_t* b, float* d,
                                        int k) {
  constexpr int kStages = 3, kDepth = 16;
  __shared__ alignas(16) std::uint16_t a_stages[kStages][64][kDepth];
  __shared__ alignas(16) std::uint16_t b_stages[kStages][8][kDepth];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const auto load = [&](int step) {
    if (step * kDepth < k) {
      const int stage = step % kStages, row = thread / 2, column = thread % 2 * 8;
      cp_async<16>(&a_stages[stage][row][column], a + row * k + step * kDepth + column);
      if (row < 8)
        cp_async<16>(&b_stages[stage][row][column], b + row * k + step * kDepth + column);
    }
    cp_async_commit();
  };
  load(0);
  load(1);
  float c[4] = {};
  for (int step = 0; step * kDepth < k; ++step) {
    cp_async_wait<1>();
    __syncthreads();
    load(step + 2);
    const int stage = step % kStages;
    std::uint32_t fa[4], fb[2];
    ldmatrix_x4(fa, shared_address(&a_stages[stage][warp * 16 + lane % 16][lane / 16 * 8]));
    ldmatrix_x2(fb, shared_address(&b_stages[stage][lane % 8][lane / 8 % 2 * 8]));
    mma_m16n8k16_bf16(c, fa, fb);
  }
  for (int i = 0; i < 4; ++i)
    d[(warp * 16 + lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i];
}

// A ring of swizzled boxes and wgmma: D = A * B', 64 x 64.
extern "C" __global__ void wgmma_ring(const std::uint16_t*, const std::uint16_t*, float* d,
                                      int boxes, const __grid_constant__ CUtensorMap map_a,
                                      const __grid_constant__ CUtensorMap map_b) {
  constexpr int kStages = 2, kBox = 64 * 64 * 2;
  __shared__ alignas(1024) std::uint8_t a[kStages][kBox];
  __shared__ alignas(1024) std::uint8_t b[kStages][kBox];
  __shared__ Mbarrier full[kStages], empty[kStages];
  init_barriers(full, kStages, 1);
  init_barriers(empty, kStages, 128);
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128)
      for (int i = 0; i < boxes; ++i) {
        const int stage = i % kStages;
        mbarrier_wait_parity(&empty[stage], i / kStages & 1 ^ 1);
        mbarrier_arrive_expect_tx(&full[stage], 2 * kBox);
        tma_load_2d(a[stage], &map_a, &full[stage], i * 64, 0);
        tma_load_2d(b[stage], &map_b, &full[stage], i * 64, 0);
      }
    return;
  }
  float sum[32];
  for (int i = 0; i < boxes; ++i) {
    const int stage = i % kStages;
    mbarrier_wait_parity(&full[stage], i / kStages & 1);
    wgmma_fence();
    for (int k = 0; k < 4; ++k)
      wgmma<WgmmaTypes::bf16>(sum, advance(encode_k_major_128b(shared_address(a[stage])), k * 32),
                              advance(encode_k_major_128b(shared_address(b[stage])), k * 32),
                              i + k > 0);
    wgmma_commit();
    wgmma_wait<0>();
    mbarrier_arrive(&empty[stage]);
  }
  const int row = static_cast<int>(threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4);
  for (int i = 0; i < 32; ++i)
    d[(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = sum[i];
}

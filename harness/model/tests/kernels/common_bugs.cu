// SPDX-License-Identifier: Apache-2.0
// Bugs as they are commonly made, each with its mend: of pipelines, of who waits for what, of
// fences. The line that the model must name is marked with the rule it must name it by.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/cp_async.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "harness/ptx/wgmma.cuh"

namespace {

using namespace assay::ptx;

// The last step of a double buffer leaves its own group under way.
template <bool kMended>
__global__ void last_step(const float4* in, float4* out, int turns) {
  __shared__ float4 tiles[2][kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  cp_async<16>(&tiles[0][thread], in + thread);
  cp_async_commit();
  for (int i = 0; i < turns; ++i) {
    if (i + 1 < turns) {
      cp_async<16>(&tiles[(i + 1) % 2][thread], in + (i + 1) * kThreads + thread);
      cp_async_commit();
    }
    if (kMended && i + 1 == turns)
      cp_async_wait<0>();
    else
      cp_async_wait<1>();
    out[i * kThreads + thread] = tiles[i % 2][thread];  // <- async.read_before_complete
  }
}

// Each thread waits for its own cp.async, and reads another's.
template <bool kMended>
__global__ void others_copies(const float4* in, float4* out) {
  __shared__ float4 tile[kThreads];
  cp_async<16>(&tile[threadIdx.x], in + threadIdx.x);
  cp_async_commit();
  cp_async_wait<0>();
  if (kMended) __syncthreads();
  out[threadIdx.x] = tile[(threadIdx.x + 32) % kThreads];  // <- async.read_before_complete
}

// The parity turns with every step in place of every round of the ring.
template <bool kMended>
__global__ void parity_of_a_step(const float* in, float* out, int turns) {
  __shared__ alignas(16) float stages[2][kThreads];
  __shared__ Mbarrier full[2];
  make_barrier(&full[0], 1);
  make_barrier(&full[1], 1);
  for (int i = 0; i < turns; ++i) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&full[i % 2], kBytes);
      bulk_load(stages[i % 2], in + i * kThreads, kBytes, &full[i % 2]);
    }
    mbarrier_wait_parity(&full[i % 2], kMended ? i / 2 % 2 : i % 2);
    out[i * kThreads + threadIdx.x] = stages[i % 2][threadIdx.x];  // <- async.read_before_complete
    fence_proxy_async_shared();
    __syncthreads();
  }
}

// One lane of each warp waits, and the others go on.
template <bool kMended>
__global__ void one_lane_waits(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, kBytes);
    bulk_load(tile, in, kBytes, &full);
  }
  if (threadIdx.x % 32 == 0) mbarrier_wait_parity(&full, 0);
  if (kMended) __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x];  // <- async.read_before_complete
}

// The last CTA sums what the others wrote, and nobody fenced.
template <bool kMended>
__global__ void last_sums(const float* in, float* parts, unsigned* count, float* out) {
  __shared__ bool last;
  parts[blockIdx.x * kThreads + threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  if (kMended) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  if (kMended) __threadfence();
  float sum = 0;
  for (unsigned part = 0; part < gridDim.x; ++part)
    sum += parts[part * kThreads + threadIdx.x];  // <- race.global
  out[threadIdx.x] = sum;
}

// A cluster barrier whose arrivals release nothing.
template <bool kMended>
__global__ void __cluster_dims__(2, 1, 1) released_nothing(float* out) {
  __shared__ float mine[kThreads];
  mine[threadIdx.x] = 1;
  if (kMended)
    cluster_arrive();
  else
    cluster_arrive_relaxed();
  cluster_wait();
  const std::uint32_t theirs =
      map_shared_address(shared_address(mine + threadIdx.x), cluster_cta_rank() ^ 1);
  out[blockIdx.x * kThreads + threadIdx.x] =
      __uint_as_float(cluster_load_weak_u32(theirs));  // <- race.shared
  cluster_sync();
}

// What was stored is read again after its source alone was waited for.
template <bool kMended>
__global__ void source_was_read(const float* in, float* stored, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(stored, tile, kBytes);
    bulk_commit();
    if (kMended)
      bulk_wait<0>();
    else
      bulk_wait_read<0>();
    fence_proxy_async();
  }
  __syncthreads();
  out[threadIdx.x] = stored[threadIdx.x];  // <- async.global_read_before_complete
}

// Two groups of warps meet at one named barrier that is meant for each of them.
template <bool kMended>
__global__ void one_number(const float* in, float* out) {
  __shared__ float tiles[2][kThreads];
  const unsigned group = threadIdx.x / kThreads, thread = threadIdx.x % kThreads;
  tiles[group][thread] = in[threadIdx.x];
  named_barrier_sync(kMended ? 1 + static_cast<int>(group) : 1, kThreads);
  out[threadIdx.x] = tiles[group][(thread + 32) % kThreads];  // <- race.shared
}

// The stage is given back before the wgmma that reads it is done.
template <bool kMended>
__global__ void given_back_early(const float* in, float* out, int turns) {
  __shared__ alignas(1024) std::uint32_t a[64 * 32];
  __shared__ Mbarrier full, empty;
  make_barrier(&full, 1);
  make_barrier(&empty, kThreads);
  if (threadIdx.x >= kThreads) {
    for (int i = 0; threadIdx.x == kThreads && i < turns; ++i) {
      mbarrier_wait_parity(&empty, (i & 1) ^ 1);
      mbarrier_arrive_expect_tx(&full, sizeof a);
      bulk_load(a, in, sizeof a, &full);  // <- async.overwritten_while_read
    }
    return;
  }
  float d[32];
  const std::uint64_t of_a = encode_k_major_128b(shared_address(a));
  for (int i = 0; i < turns; ++i) {
    mbarrier_wait_parity(&full, i & 1);
    wgmma_fence();
    wgmma<WgmmaTypes::bf16>(d, of_a, of_a, i > 0);
    wgmma_commit();
    if (!kMended) mbarrier_arrive(&empty);
    wgmma_wait<0>();
    if (kMended) mbarrier_arrive(&empty);
  }
  for (int i = 0; i < 32; ++i) out[threadIdx.x * 32 + i] = d[i];
}

// The proxy fence is of global memory, and the data is in shared memory.
template <bool kMended>
__global__ void other_memory(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  if (kMended)
    fence_proxy_async_shared();
  else
    fence_proxy_async_global();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(out, tile, kBytes);  // <- proxy.shared
    bulk_commit();
    bulk_wait<0>();
  }
}

// A word of shared memory as a flag, which orders nothing.
template <bool kMended>
__global__ void plain_flag(const float* in, float* out) {
  __shared__ float tile[32];
  __shared__ std::uint32_t flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) {
      if (kMended)
        increment_release_shared(&flag);
      else
        *const_cast<volatile std::uint32_t*>(&flag) = 1;
    }
    return;
  }
  if (kMended)
    while (load_acquire_shared(&flag) == 0) {
    }
  else
    while (*const_cast<volatile std::uint32_t*>(&flag) == 0) {
    }
  out[threadIdx.x] = tile[threadIdx.x % 32];  // <- race.shared
}

// The map is changed, and the fence is that of data.
template <bool kMended>
__global__ void changed_map(const float*, CUtensorMap* map, float* out,
                            const __grid_constant__ CUtensorMap given) {
  __shared__ alignas(128) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x == 0) {
    for (int k = 0; k < 8; ++k)
      reinterpret_cast<uint4*>(map)[k] = reinterpret_cast<const uint4*>(&given)[k];
    if (kMended)
      fence_tensor_map(map);
    else
      fence_proxy_async_global();
    mbarrier_arrive_expect_tx(&full, kBytes);
    tma_load_1d(tile, map, &full, 0);  // <- proxy.tensor_map
  }
  mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// Each exists twice.
template __global__ void last_step<false>(const float4*, float4*, int);
template __global__ void last_step<true>(const float4*, float4*, int);
template __global__ void others_copies<false>(const float4*, float4*);
template __global__ void others_copies<true>(const float4*, float4*);
template __global__ void parity_of_a_step<false>(const float*, float*, int);
template __global__ void parity_of_a_step<true>(const float*, float*, int);
template __global__ void one_lane_waits<false>(const float*, float*);
template __global__ void one_lane_waits<true>(const float*, float*);
template __global__ void last_sums<false>(const float*, float*, unsigned*, float*);
template __global__ void last_sums<true>(const float*, float*, unsigned*, float*);
template __global__ void released_nothing<false>(float*);
template __global__ void released_nothing<true>(float*);
template __global__ void source_was_read<false>(const float*, float*, float*);
template __global__ void source_was_read<true>(const float*, float*, float*);
template __global__ void one_number<false>(const float*, float*);
template __global__ void one_number<true>(const float*, float*);
template __global__ void given_back_early<false>(const float*, float*, int);
template __global__ void given_back_early<true>(const float*, float*, int);
template __global__ void other_memory<false>(const float*, float*);
template __global__ void other_memory<true>(const float*, float*);
template __global__ void plain_flag<false>(const float*, float*);
template __global__ void plain_flag<true>(const float*, float*);
template __global__ void changed_map<false>(const float*, CUtensorMap*, float*,
                                            const __grid_constant__ CUtensorMap);
template __global__ void changed_map<true>(const float*, CUtensorMap*, float*,
                                           const __grid_constant__ CUtensorMap);

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Bugs that were found in published kernels, made again as small kernels: copies and the fences
// between proxies. Each is there as it was reported and mended. The line that the model must name
// is marked with the rule it must name it by.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/tma_modes.cuh"

namespace {

using namespace assay::ptx;

// NVIDIA/TransformerEngine pull request 2695: the next stage is loaded over shared memory that was
// just read by ordinary loads.
template <bool kMended>
__global__ void te_2695(const float* in, float* out, int turns) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  for (int i = 0; i < turns; ++i) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&full, kBytes);
      bulk_load(tile, in + i * kThreads, kBytes, &full);  // <- proxy.shared_read
    }
    mbarrier_wait_parity(&full, i & 1);
    out[i * kThreads + threadIdx.x] = tile[threadIdx.x];
    if (kMended) fence_proxy_async_shared();
    __syncthreads();
  }
}

// NVIDIA/TransformerEngine pull request 3417: bulk groups are the issuing thread's. Its wait tells
// the others nothing.
template <bool kMended>
__global__ void te_3417(const float* in, float* out, int turns) {
  __shared__ alignas(16) float tile[kThreads];
  for (int i = 0; i < turns; ++i) {
    bulk_wait_read<0>();  // of thread 0 alone there is something to wait for
    if (kMended) __syncthreads();
    tile[threadIdx.x] = in[i * kThreads + threadIdx.x];  // <- async.overwritten_while_read
    fence_proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      bulk_store(out + i * kThreads, tile, kBytes);
      bulk_commit();
    }
  }
  bulk_wait<0>();
}

// MoonshotAI/FlashKDA issue 24: ordinary writes, __syncthreads, a bulk store.
template <bool kMended>
__global__ void flashkda_24(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  if (kMended) fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(out, tile, kBytes);  // <- proxy.shared
    bulk_commit();
    bulk_wait<0>();
  }
}

// MoonshotAI/FlashKDA issue 24: the loop has the fence, and an empty loop does not come to it.
template <bool kMended>
__global__ void flashkda_24_empty(const float* in, float* out, int turns) {
  __shared__ alignas(16) float state[kThreads];
  state[threadIdx.x] = 0;
  if (kMended) fence_proxy_async_shared();
  for (int i = 0; i < turns; ++i) {
    state[threadIdx.x] += in[i * kThreads + threadIdx.x];
    fence_proxy_async_shared();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(out, state, kBytes);  // <- proxy.shared
    bulk_commit();
    bulk_wait<0>();
  }
}

// MoonshotAI/FlashKDA pull request 25: the copy counts on a barrier whose making no fence showed
// it.
template <bool kMended>
__global__ void flashkda_25(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    if (kMended) fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full, kBytes);
    bulk_load(tile, in, kBytes, &full);  // <- mbarrier.init_not_fenced
  }
  __syncthreads();
  mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// deepseek-ai/DeepEP issue 621: one CTA writes and raises a flag, another polls the flag with
// ordinary loads and then copies the data asynchronously.
template <bool kMended>
__global__ void deepep_621(const float* in, float* box, std::uint32_t* flag, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  if (blockIdx.x == 0) {
    box[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) increment_release(flag);
    return;
  }
  make_barrier(&full, 1);
  if (threadIdx.x == 0) {
    while (load_acquire(flag) == 0) {
    }
    if (kMended) fence_proxy_async();
    mbarrier_arrive_expect_tx(&full, kBytes);
    bulk_load(tile, box, kBytes, &full);  // <- proxy.global
  }
  mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// https://github.com/deepseek-ai/DeepEP, README, "Undefined-behavior PTX usage": what other CTAs
// write while the kernel runs is read by loads of the read-only path.
template <bool kMended>
__global__ void deepep_nc(const float* in, float* box, std::uint32_t* flag, float* out) {
  if (blockIdx.x == 0) {
    box[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) increment_release(flag);
    return;
  }
  if (threadIdx.x == 0)
    while (load_acquire(flag) == 0) {
    }
  __syncthreads();
  if (kMended)
    out[threadIdx.x] = box[threadIdx.x];
  else
    out[threadIdx.x] = __ldg(box + threadIdx.x);  // <- memory.non_coherent
}

// deepseek-ai/DeepEP pull request 660: a stage is filled again while an older store may still read
// it: the wait leaves one group too many.
template <bool kMended>
__global__ void deepep_660(const float* in, float* out, int turns) {
  constexpr int kStages = 2;
  __shared__ alignas(16) float tile[kStages][kThreads];
  __shared__ Mbarrier full[kStages];
  if (threadIdx.x == 0) {
    for (Mbarrier& barrier : full) mbarrier_init(&barrier, 1);
    fence_mbarrier_init();
    for (int i = 0; i < turns; ++i) {
      const int stage = i % kStages;
      bulk_wait_read<kMended ? kStages - 1 : kStages>();
      mbarrier_arrive_expect_tx(&full[stage], kBytes);
      const float* from = in + i * kThreads;
      bulk_load(tile[stage], from, kBytes, &full[stage]);  // <- async.overwritten_while_read
      mbarrier_wait_parity(&full[stage], i / kStages & 1);
      bulk_store(out + i * kThreads, tile[stage], kBytes);
      bulk_commit();
    }
    bulk_wait<0>();
  }
}

// pytorch/ao pull request 4278: fence and barrier in the wrong order.
template <bool kMended>
__global__ void torchao_4278(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  if (kMended) fence_proxy_async_shared();
  __syncthreads();
  if (!kMended) fence_proxy_async_shared();
  if (threadIdx.x == 0) {
    bulk_store(out, tile, kBytes);  // <- proxy.shared_late
    bulk_commit();
    bulk_wait<0>();
  }
}

// deepseek-ai/DeepGEMM pull request 343: a tensor map in global memory is changed while a copy by
// it is under way.
template <bool kMended>
__global__ void deepgemm_343(const float*, CUtensorMap* map, float* out,
                             const __grid_constant__ CUtensorMap first,
                             const __grid_constant__ CUtensorMap second) {
  __shared__ alignas(128) float tile[2][kThreads];
  __shared__ Mbarrier full[2];
  make_barrier(&full[0], 1);
  make_barrier(&full[1], 1);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      const auto* from = reinterpret_cast<const uint4*>(i == 0 ? &first : &second);
      for (int k = 0; k < 8; ++k)
        reinterpret_cast<uint4*>(map)[k] = from[k];  // <- async.overwritten_while_read
      __threadfence();
      fence_tensor_map(map);
      mbarrier_arrive_expect_tx(&full[i], kBytes);
      tma_load_1d(tile[i], map, &full[i], 0);
      if (kMended) mbarrier_wait_parity(&full[i], 0);
    }
  }
  for (Mbarrier& barrier : full) mbarrier_wait_parity(&barrier, 0);
  out[threadIdx.x] = tile[0][threadIdx.x] + tile[1][threadIdx.x];
}

// uccl-project/mKernel pull request 18: the last stage of a task holds its output. The wait for the
// store stands at a fixed step, which is the step that fills the stage again only if tasks are as
// long as the ring.
template <bool kMended>
__global__ void mkernel_18(const float* in, float* out, int tasks, int steps) {
  constexpr int kStages = 4;
  __shared__ alignas(16) float ring[kStages][kThreads];
  __shared__ Mbarrier full[kStages];
  if (threadIdx.x == 0) {
    for (Mbarrier& barrier : full) mbarrier_init(&barrier, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  int turn = 0;
  for (int task = 0; task < tasks; ++task) {
    float sum = 0;
    int stage = 0;
    for (int k = 0; k < steps; ++k, ++turn) {
      stage = turn % kStages;
      if (threadIdx.x == 0) {
        if (k == (kMended ? 0 : kStages - 1)) bulk_wait_read<0>();
        mbarrier_arrive_expect_tx(&full[stage], kBytes);
        const float* from = in + turn * kThreads;
        bulk_load(ring[stage], from, kBytes, &full[stage]);  // <- async.overwritten_while_read
      }
      mbarrier_wait_parity(&full[stage], turn / kStages & 1);
      sum += ring[stage][threadIdx.x];
      fence_proxy_async_shared();
      __syncthreads();
    }
    ring[stage][threadIdx.x] = sum;
    fence_proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      bulk_store(out + task * kThreads, ring[stage], kBytes);
      bulk_commit();
    }
  }
  if (threadIdx.x == 0) bulk_wait<0>();
}

// NVIDIA/Fuser pull request 5448: the store is in no group, and the wait waits for nothing.
template <bool kMended>
__global__ void fuser_5448(const float* in, float* out, int turns) {
  __shared__ alignas(16) float tile[kThreads];
  for (int i = 0; i < turns; ++i) {
    tile[threadIdx.x] = in[i * kThreads + threadIdx.x];
    fence_proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      bulk_store(out + i * kThreads, tile, kBytes);
      if (kMended) bulk_commit();
      bulk_wait_read<0>();  // <- bulk.uncommitted
    }
    __syncthreads();
  }
  bulk_commit();
  bulk_wait<0>();
}

// Each exists twice.
template __global__ void te_2695<false>(const float*, float*, int);
template __global__ void te_2695<true>(const float*, float*, int);
template __global__ void te_3417<false>(const float*, float*, int);
template __global__ void te_3417<true>(const float*, float*, int);
template __global__ void flashkda_24<false>(const float*, float*);
template __global__ void flashkda_24<true>(const float*, float*);
template __global__ void flashkda_24_empty<false>(const float*, float*, int);
template __global__ void flashkda_24_empty<true>(const float*, float*, int);
template __global__ void flashkda_25<false>(const float*, float*);
template __global__ void flashkda_25<true>(const float*, float*);
template __global__ void deepep_621<false>(const float*, float*, std::uint32_t*, float*);
template __global__ void deepep_621<true>(const float*, float*, std::uint32_t*, float*);
template __global__ void deepep_nc<false>(const float*, float*, std::uint32_t*, float*);
template __global__ void deepep_nc<true>(const float*, float*, std::uint32_t*, float*);
template __global__ void deepep_660<false>(const float*, float*, int);
template __global__ void deepep_660<true>(const float*, float*, int);
template __global__ void torchao_4278<false>(const float*, float*);
template __global__ void torchao_4278<true>(const float*, float*);
template __global__ void deepgemm_343<false>(const float*, CUtensorMap*, float*,
                                             const __grid_constant__ CUtensorMap,
                                             const __grid_constant__ CUtensorMap);
template __global__ void deepgemm_343<true>(const float*, CUtensorMap*, float*,
                                            const __grid_constant__ CUtensorMap,
                                            const __grid_constant__ CUtensorMap);
template __global__ void mkernel_18<false>(const float*, float*, int, int);
template __global__ void mkernel_18<true>(const float*, float*, int, int);
template __global__ void fuser_5448<false>(const float*, float*, int);
template __global__ void fuser_5448<true>(const float*, float*, int);

}  // namespace

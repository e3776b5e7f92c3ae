// SPDX-License-Identifier: Apache-2.0
// More bugs as they are made, each with its mend: where the usual wait or fence is there, and is of
// another thread, phase, count or buffer than it should be. The line that the model must name is
// marked with the rule it must name it by.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/tma_modes.cuh"
#include "harness/ptx/wgmma.cuh"

namespace {

using namespace assay::ptx;

constexpr std::uint32_t kTile = 64 * 128;  // bytes of 64 rows of 64 bf16

// A warpgroup multiplies a tile with itself, transposed: all 64 of K.
__device__ void multiply(float (&d)[32], const std::uint8_t* tile, bool accumulate) {
  const std::uint64_t operand = encode_k_major_128b(shared_address(tile));
#pragma unroll
  for (std::uint32_t k = 0; k < 4; ++k)
    wgmma<WgmmaTypes::bf16>(d, advance(operand, 32 * k), advance(operand, 32 * k),
                            accumulate || k > 0);
}

__device__ void leave(const float (&d)[32], float* out) {
  for (int i = 0; i < 32; ++i) out[i * kThreads + threadIdx.x] = d[i];
}

// A tile that a copy brought is changed where it lies, and wgmma reads it: the barrier is there,
// the proxy fence is not.
template <bool kMended>
__global__ void changed_in_place(const std::uint16_t*, float* out,
                                 const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) std::uint8_t tile[];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, kTile);
    tma_load_2d(tile, &map, &full, 0, 0);
  }
  mbarrier_wait_parity(&full, 0);
  auto* words = reinterpret_cast<std::uint32_t*>(tile);
  for (int i = 0; i < static_cast<int>(kTile) / 4 / kThreads; ++i)
    words[i * kThreads + threadIdx.x] ^= 0x80008000;  // <- proxy.shared
  if (kMended) fence_proxy_async_shared();
  __syncthreads();
  float d[32];
  wgmma_fence();
  multiply(d, tile, false);
  wgmma_commit();
  wgmma_wait<0>();
  leave(d, out);
}

// Sums are rescaled between two groups, as an online softmax does, and no wgmma.fence follows.
template <bool kMended>
__global__ void rescaled(const std::uint16_t*, float* out,
                         const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) std::uint8_t tile[];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, kTile);
    tma_load_2d(tile, &map, &full, 0, 0);
  }
  mbarrier_wait_parity(&full, 0);
  float d[32];
  wgmma_fence();
  multiply(d, tile, false);
  wgmma_commit();
  wgmma_wait<0>();
  for (float& sum : d) sum *= 0.5f + static_cast<float>(threadIdx.x);
  if (kMended) wgmma_fence();
  multiply(d, tile, true);  // <- wgmma.fence_missing
  wgmma_commit();
  wgmma_wait<0>();
  leave(d, out);
}

// The descriptor is made once, of the first stage, and does not go around the ring.
template <bool kMended>
__global__ void stale_descriptor(const std::uint16_t*, float* out, int steps,
                                 const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) std::uint8_t stages[];
  __shared__ Mbarrier full[2], empty[2];
  init_barriers(full, 2, 1);
  make_barriers(empty, 2, 1);
  if (threadIdx.x >= kThreads) {
    if (threadIdx.x == kThreads)
      for (int k = 0; k < steps; ++k) {
        mbarrier_wait_parity(&empty[k % 2], k / 2 & 1 ^ 1);
        mbarrier_arrive_expect_tx(&full[k % 2], kTile);
        tma_load_2d(stages + k % 2 * kTile, &map, &full[k % 2], 0, k * 64);
      }
    return;
  }
  float d[32];
  for (int k = 0; k < steps; ++k) {
    mbarrier_wait_parity(&full[k % 2], k / 2 & 1);
    wgmma_fence();
    const std::uint8_t* stage = stages + (kMended ? k % 2 * kTile : 0);
    multiply(d, stage, k > 0);  // <- async.overwritten_while_read
    wgmma_commit();
    wgmma_wait<0>();
    named_barrier_sync(1, kThreads);
    if (threadIdx.x == 0) mbarrier_arrive(&empty[k % 2]);
  }
  leave(d, out);
}

// A persistent kernel: the place in the ring goes on from one tile to the next, and the parity
// begins anew with each.
template <bool kMended>
__global__ void parity_of_a_tile(const float* in, float* out, int tiles, int steps) {
  __shared__ alignas(16) float stages[3][kThreads];
  __shared__ Mbarrier full[3], empty[3];
  init_barriers(full, 3, 1);
  make_barriers(empty, 3, kThreads);
  if (threadIdx.x >= kThreads) {
    if (threadIdx.x == kThreads)
      for (int i = 0; i < tiles * steps; ++i) {
        mbarrier_wait_parity(&empty[i % 3], i / 3 & 1 ^ 1);
        mbarrier_arrive_expect_tx(&full[i % 3], kBytes);
        bulk_load(stages[i % 3], in + i * kThreads, kBytes, &full[i % 3]);
      }
    return;
  }
  for (int tile = 0; tile < tiles; ++tile) {
    float sum = 0;
    for (int k = 0; k < steps; ++k) {
      const int i = tile * steps + k;
      mbarrier_wait_parity(&full[i % 3], (kMended ? i : k) / 3 & 1);
      sum += stages[i % 3][threadIdx.x];  // <- async.read_before_complete
      fence_proxy_async_shared();
      mbarrier_arrive(&empty[i % 3]);
    }
    out[tile * kThreads + threadIdx.x] = sum;
  }
}

// Four warps arrive when they have read, and the barrier counts three: those of the warps that a
// former version had.
template <bool kMended>
__global__ void three_of_four(const float* in, float* out, int turns) {
  __shared__ alignas(16) float stages[2][kThreads];
  __shared__ Mbarrier full[2], empty[2];
  init_barriers(full, 2, 1);
  make_barriers(empty, 2, kMended ? 4 : 3);
  if (threadIdx.x >= kThreads) {
    if (threadIdx.x == kThreads)
      for (int i = 0; i < turns; ++i) {
        mbarrier_wait_parity(&empty[i % 2], i / 2 & 1 ^ 1);
        mbarrier_arrive_expect_tx(&full[i % 2], kBytes);
        bulk_load(stages[i % 2], in + i * kThreads, kBytes,  // <- async.overwrites_unread
                  &full[i % 2]);
      }
    return;
  }
  for (int i = 0; i < turns; ++i) {
    mbarrier_wait_parity(&full[i % 2], i / 2 & 1);
    out[i * kThreads + threadIdx.x] = stages[i % 2][threadIdx.x];
    fence_proxy_async_shared();
    __syncwarp();
    if (threadIdx.x % 32 == 0) mbarrier_arrive(&empty[i % 2]);
  }
}

// The store's group is of thread 0, and another thread waits for groups: it has none.
template <bool kMended>
__global__ void anothers_group(const float* in, float* out, int turns) {
  __shared__ alignas(16) float buffer[kThreads];
  for (int i = 0; i < turns; ++i) {
    buffer[threadIdx.x] = in[i * kThreads + threadIdx.x];  // <- async.overwritten_while_read
    fence_proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      bulk_store(out + i * kThreads, buffer, kBytes);
      bulk_commit();
    }
    if (threadIdx.x == (kMended ? 0 : 32)) bulk_wait_read<0>();
    __syncthreads();
  }
}

// Rows of 96 bf16 come in boxes of 64 and of 32, and both are announced as whole ones.
template <bool kMended>
__global__ void two_whole_boxes(const std::uint16_t*, std::uint16_t* out,
                                const __grid_constant__ CUtensorMap wide,
                                const __grid_constant__ CUtensorMap narrow) {
  __shared__ alignas(128) std::uint16_t rows[8 * 96];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, 8 * 2 * (kMended ? 96 : 128));  // <- mbarrier.tx_left
    tma_load_2d(rows, &wide, &full, 0, 0);
    tma_load_2d(rows + 8 * 64, &narrow, &full, 64, 0);
  }
  mbarrier_wait_parity(&full, 0);
  for (int i = 0; i < 6; ++i) out[i * kThreads + threadIdx.x] = rows[i * kThreads + threadIdx.x];
}

// Each CTA hands its sums to the other one by st.async, and leaves when it has its own: the other's
// may come to memory that is gone.
template <bool kMended>
__global__ void __cluster_dims__(2, 1, 1) gone_before_it_came(float* out) {
  __shared__ alignas(16) uint4 theirs[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x == 0) mbarrier_arrive_expect_tx(&full, sizeof theirs);
  cluster_sync();
  const std::uint32_t other = cluster_cta_rank() ^ 1;
  const uint4 mine = {threadIdx.x, other, 1, 2};
  const std::uint32_t to = map_shared_address(shared_address(theirs + threadIdx.x), other);
  const std::uint32_t barrier = map_shared_address(shared_address(&full), other);
  cluster_store_async_v4(to, mine, barrier);  // <- cluster.left
  if (kMended || other == 0) mbarrier_wait_parity(&full, 0);
  out[blockIdx.x * kThreads + threadIdx.x] = static_cast<float>(mine.x);
}

// A slot of the ring is filled again by a copy while the store that empties it still reads: what is
// waited for is the group before.
template <bool kMended>
__global__ void copied_on(const float* in, float* out, int turns) {
  __shared__ alignas(16) float slots[2][kThreads];
  __shared__ Mbarrier full[2];
  make_barriers(full, 2, 1);
  if (threadIdx.x != 0) return;
  const auto load = [&](int i) {
    mbarrier_arrive_expect_tx(&full[i % 2], kBytes);
    bulk_load(slots[i % 2], in + i * kThreads, kBytes, &full[i % 2]);
  };
  load(0);
  load(1);
  for (int i = 0; i < turns; ++i) {
    mbarrier_wait_parity(&full[i % 2], i / 2 & 1);
    bulk_store(out + i * kThreads, slots[i % 2], kBytes);
    bulk_commit();
    if (kMended)
      bulk_wait_read<0>();
    else
      bulk_wait_read<1>();
    if (i + 2 < turns) load(i + 2);  // <- async.overwritten_while_read
  }
  bulk_wait<0>();
}

// The map lays a box in another swizzle than the descriptor reads it in.
template <bool kMended>
__global__ void other_swizzle(const std::uint16_t*, float* out,
                              const __grid_constant__ CUtensorMap of_64_bytes,
                              const __grid_constant__ CUtensorMap of_128_bytes) {
  extern __shared__ __align__(1024) std::uint8_t tile[];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, kTile);
    if (kMended) {
      tma_load_2d(tile, &of_128_bytes, &full, 0, 0);
    } else {
      tma_load_2d(tile, &of_64_bytes, &full, 0, 0);
      tma_load_2d(tile + kTile / 2, &of_64_bytes, &full, 32, 0);
    }
  }
  mbarrier_wait_parity(&full, 0);
  float d[32];
  wgmma_fence();
  multiply(d, tile, false);  // <- matrix.swizzle
  wgmma_commit();
  wgmma_wait<0>();
  leave(d, out);
}

// Each CTA writes to the other one's memory, which that one stores from. The fence is of the
// writer's own shared memory alone.
template <bool kMended>
__global__ void __cluster_dims__(2, 1, 1) fence_of_the_own_cta(const float* in, float* out) {
  __shared__ uint4 tile[kThreads / 4];
  cluster_sync();
  const std::uint32_t rank = cluster_cta_rank(), other = rank ^ 1;
  if (threadIdx.x < kThreads / 4) {
    const auto* words = reinterpret_cast<const uint4*>(in + other * kThreads) + threadIdx.x;
    const std::uint32_t to = map_shared_address(shared_address(tile + threadIdx.x), other);
    cluster_store_v4(to, *words);  // <- proxy.shared
  }
  if (kMended)
    fence_proxy_async();
  else
    fence_proxy_async_shared();
  cluster_sync();
  if (threadIdx.x == 0) {
    bulk_store(out + rank * kThreads, tile, kBytes);
    bulk_commit();
    bulk_wait<0>();
  }
}

// Each exists twice.
template __global__ void changed_in_place<false>(const std::uint16_t*, float*,
                                                 const __grid_constant__ CUtensorMap);
template __global__ void changed_in_place<true>(const std::uint16_t*, float*,
                                                const __grid_constant__ CUtensorMap);
template __global__ void rescaled<false>(const std::uint16_t*, float*,
                                         const __grid_constant__ CUtensorMap);
template __global__ void rescaled<true>(const std::uint16_t*, float*,
                                        const __grid_constant__ CUtensorMap);
template __global__ void stale_descriptor<false>(const std::uint16_t*, float*, int,
                                                 const __grid_constant__ CUtensorMap);
template __global__ void stale_descriptor<true>(const std::uint16_t*, float*, int,
                                                const __grid_constant__ CUtensorMap);
template __global__ void parity_of_a_tile<false>(const float*, float*, int, int);
template __global__ void parity_of_a_tile<true>(const float*, float*, int, int);
template __global__ void three_of_four<false>(const float*, float*, int);
template __global__ void three_of_four<true>(const float*, float*, int);
template __global__ void anothers_group<false>(const float*, float*, int);
template __global__ void anothers_group<true>(const float*, float*, int);
template __global__ void two_whole_boxes<false>(const std::uint16_t*, std::uint16_t*,
                                                const __grid_constant__ CUtensorMap,
                                                const __grid_constant__ CUtensorMap);
template __global__ void two_whole_boxes<true>(const std::uint16_t*, std::uint16_t*,
                                               const __grid_constant__ CUtensorMap,
                                               const __grid_constant__ CUtensorMap);
template __global__ void gone_before_it_came<false>(float*);
template __global__ void gone_before_it_came<true>(float*);
template __global__ void fence_of_the_own_cta<false>(const float*, float*);
template __global__ void fence_of_the_own_cta<true>(const float*, float*);
template __global__ void copied_on<false>(const float*, float*, int);
template __global__ void copied_on<true>(const float*, float*, int);
template __global__ void other_swizzle<false>(const std::uint16_t*, float*,
                                              const __grid_constant__ CUtensorMap,
                                              const __grid_constant__ CUtensorMap);
template __global__ void other_swizzle<true>(const std::uint16_t*, float*,
                                             const __grid_constant__ CUtensorMap,
                                             const __grid_constant__ CUtensorMap);

}  // namespace

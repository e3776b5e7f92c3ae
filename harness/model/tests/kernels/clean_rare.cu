// SPDX-License-Identifier: Apache-2.0
// More kernels that are right in ways that are seldom seen: who announces, arrives or leaves when.
// All but the last compute out = 2 * in, which a test checks.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/wgmma.cuh"

using namespace assay::ptx;

// The copy is on its way before its bytes are announced: the arrival that is still to come keeps
// the phase open, and the count of bytes may be below zero meanwhile.
extern "C" __global__ void announced_after(const float* in, float* out, int turns) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  for (int i = 0; i < turns; ++i) {
    if (threadIdx.x == 0) {
      bulk_load(tile, in + i * kThreads, kBytes, &full);
      mbarrier_arrive_expect_tx(&full, kBytes);
    }
    mbarrier_wait_parity(&full, i & 1);
    out[i * kThreads + threadIdx.x] = 2 * tile[threadIdx.x];
    fence_proxy_async_shared();
    __syncthreads();
  }
}

// Three threads announce and load a part each, and all count on one barrier.
extern "C" __global__ void in_parts(const float* in, float* out, int turns) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 3);
  for (int i = 0; i < turns; ++i) {
    if (threadIdx.x % 32 == 0 && threadIdx.x < 96) {
      const int part = static_cast<int>(threadIdx.x) / 32;
      const int first = part * 32, count = part == 2 ? 64 : 32;
      mbarrier_expect_tx(&full, count * sizeof(float));
      bulk_load(tile + first, in + i * kThreads + first, count * sizeof(float), &full);
      mbarrier_arrive(&full);
    }
    mbarrier_wait_parity(&full, i & 1);
    out[i * kThreads + threadIdx.x] = 2 * tile[threadIdx.x];
    fence_proxy_async_shared();
    __syncthreads();
  }
}

// One thread arrives for all 128, whom it has met.
extern "C" __global__ void arrives_for_all(const float* in, float* out, int turns) {
  __shared__ float tile[kThreads];
  __shared__ Mbarrier written;
  make_barrier(&written, kThreads);
  for (int i = 0; i < turns; ++i) {
    tile[threadIdx.x] = in[i * kThreads + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 77)
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 128;" ::"r"(shared_address(&written))
                   : "memory");
    mbarrier_wait_parity(&written, i & 1);
    out[i * kThreads + (threadIdx.x ^ 64)] = 2 * tile[threadIdx.x ^ 64];
    __syncthreads();
  }
}

// The first CTA sends what it has out of its registers, and leaves while that is under way: what it
// is to reach is the other one's memory, and that one waits.
extern "C" __global__ void __cluster_dims__(2, 1, 1) sent_and_left(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (cluster_cta_rank() == 1 && threadIdx.x == 0) mbarrier_arrive_expect_tx(&full, kBytes);
  cluster_sync();
  if (cluster_cta_rank() == 0) {
    if (threadIdx.x < 32) {
      const auto* words = reinterpret_cast<const uint4*>(in) + threadIdx.x;
      cluster_store_async_v4(map_shared_address(shared_address(tile + 4 * threadIdx.x), 1), *words,
                             map_shared_address(shared_address(&full), 1));
    }
    return;
  }
  mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = 2 * tile[threadIdx.x];
}

// The second CTA reads the first one's memory, tells it so, and leaves; the first leaves when it
// was told. No barrier of the cluster at the end.
extern "C" __global__ void __cluster_dims__(2, 1, 1) told_and_left(const float* in, float* out) {
  __shared__ float tile[kThreads];
  __shared__ Mbarrier read;
  make_barrier(&read, kThreads);
  tile[threadIdx.x] = in[threadIdx.x];
  cluster_sync();
  if (cluster_cta_rank() == 0) {
    mbarrier_wait_parity(&read, 0);
    return;
  }
  const std::uint32_t theirs = map_shared_address(shared_address(tile + threadIdx.x), 0);
  out[threadIdx.x] = 2 * __uint_as_float(cluster_load_weak_u32(theirs));
  mbarrier_arrive_remote(&read, 0);
}

// What one CTA writes to the other's memory is fenced there, by the thread that stores it: of its
// own shared memory.
extern "C" __global__ void __cluster_dims__(2, 1, 1)
    fenced_by_the_other(const float* in, float* out) {
  __shared__ uint4 tile[kThreads / 4];
  cluster_sync();
  const std::uint32_t rank = cluster_cta_rank(), other = rank ^ 1;
  if (threadIdx.x < kThreads / 4) {
    auto v = reinterpret_cast<const float4*>(in + other * kThreads)[threadIdx.x];
    v = {2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w};
    cluster_store_v4(map_shared_address(shared_address(tile + threadIdx.x), other),
                     reinterpret_cast<const uint4&>(v));
  }
  cluster_sync();
  if (threadIdx.x == 5) {
    fence_proxy_async_shared();
    bulk_store(out + rank * kThreads, tile, kBytes);
    bulk_commit();
    bulk_wait<0>();
  }
}

// The buffer of a store is filled again when an mbarrier, not a barrier of the CTA, has told that
// the group was waited for; the thread that waits for it is not the one that is told first.
extern "C" __global__ void store_told(const float* in, float* out, int turns) {
  __shared__ alignas(16) float buffer[kThreads];
  __shared__ Mbarrier filled, stored;
  make_barrier(&filled, kThreads);
  make_barrier(&stored, 1);
  for (int i = 0; i < turns; ++i) {
    buffer[threadIdx.x] = 2 * in[i * kThreads + threadIdx.x];
    fence_proxy_async_shared();
    mbarrier_arrive(&filled);
    if (threadIdx.x == 40) {
      mbarrier_wait_parity(&filled, i & 1);
      bulk_store(out + i * kThreads, buffer, kBytes);
      bulk_commit();
      bulk_wait_read<0>();
      mbarrier_arrive(&stored);
    }
    mbarrier_wait_parity(&stored, i & 1);
  }
  if (threadIdx.x == 40) bulk_wait<0>();
}

// A barrier that counts votes is the only one of the loop: it ends the loop, and orders the tile.
extern "C" __global__ void until_all_agree(const float* in, float* out, int turns) {
  __shared__ float tile[2][kThreads];
  for (int i = 0;; ++i) {
    const bool more = i < turns + static_cast<int>(threadIdx.x) / 64;
    const int at = min(i, turns - 1) * kThreads + static_cast<int>(threadIdx.x);
    tile[i & 1][threadIdx.x] = in[at];
    if (!__syncthreads_and(more)) break;
    if (i < turns) out[at ^ 1] = 2 * tile[i & 1][threadIdx.x ^ 1];
  }
}

// One stage holds tiles of one swizzle, then of another: each is read as it was laid. A third one
// is laid by no copy, but by the threads.
extern "C" __global__ void swizzle_after_swizzle(const std::uint16_t*, float* out,
                                                 const __grid_constant__ CUtensorMap of_64,
                                                 const __grid_constant__ CUtensorMap of_128) {
  extern __shared__ __align__(1024) std::uint8_t tile[];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  float d[32];
  for (int turn = 0; turn < 3; ++turn) {
    if (turn < 2) {
      if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&full, 64 * (turn == 0 ? 64 : 128));
        tma_load_2d(tile, turn == 0 ? &of_64 : &of_128, &full, 0, 0);
      }
      mbarrier_wait_parity(&full, turn);
    } else {
      for (int i = 0; i < 16; ++i)
        reinterpret_cast<std::uint32_t*>(tile)[i * kThreads + threadIdx.x] = 0x3f803f80;
      fence_proxy_async_shared();
      __syncthreads();
    }
    const std::uint32_t start = shared_address(tile);
    const std::uint64_t operand =
        turn == 1 ? encode_k_major_128b(start) : encode({start, 16, 8 * 64, Swizzle::bytes64});
    wgmma_fence();
    wgmma<WgmmaTypes::bf16>(d, operand, operand, turn > 0);
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_pin(d);
    __syncthreads();
  }
  for (int i = 0; i < 32; ++i) out[i * kThreads + threadIdx.x] = d[i];
}

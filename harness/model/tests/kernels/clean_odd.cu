// SPDX-License-Identifier: Apache-2.0
// Kernels that are right in ways that are seldom seen: the model must not complain of them either.
// All compute out = 2 * in, which a test checks.
#include "harness/model/tests/kernels/block.cuh"
#include "harness/ptx/cluster.cuh"
#include "harness/ptx/cp_async.cuh"
#include "harness/ptx/distributed_shared.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/ptx/tma_modes.cuh"

using namespace assay::ptx;

// Even warps wait for a phase by the token of their arrival, odd ones by its parity.
extern "C" __global__ void token_and_parity(const float* in, float* out, int turns) {
  __shared__ float tile[kThreads];
  __shared__ Mbarrier written, read;
  make_barrier(&written, kThreads);
  make_barrier(&read, kThreads);
  const auto meet = [&](Mbarrier* barrier, int turn) {
    const std::uint32_t at = shared_address(barrier);
    std::uint64_t token;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(at) : "memory");
    if (threadIdx.x / 32 % 2 == 0) {
      for (std::uint32_t ended = 0; ended == 0;)
        asm volatile(
            "{\n"
            ".reg .pred p;\n"
            "mbarrier.test_wait.shared::cta.b64 p, [%1], %2;\n"
            "selp.u32 %0, 1, 0, p;\n"
            "}\n"
            : "=r"(ended)
            : "r"(at), "l"(token)
            : "memory");
    } else {
      mbarrier_wait_parity(barrier, turn & 1);
    }
  };
  for (int i = 0; i < turns; ++i) {
    tile[threadIdx.x] = in[i * kThreads + threadIdx.x];
    meet(&written, i);
    out[i * kThreads + kThreads - 1 - threadIdx.x] = tile[kThreads - 1 - threadIdx.x] * 2;
    meet(&read, i);
  }
}

// A ring of five stages, filled by ordinary stores of a warp; one lane arrives for its warp after
// __syncwarp, the last one in place of an elected one. The parity turns when the ring wraps.
extern "C" __global__ void ring_of_five(const float* in, float* out, int turns) {
  constexpr int kStages = 5;
  __shared__ float ring[kStages][32];
  __shared__ Mbarrier full[kStages], empty[kStages];
  init_barriers(full, kStages, 1);
  init_barriers(empty, kStages, 1);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t parity = 0;
  for (int i = 0, stage = 0; i < turns; ++i) {
    if (threadIdx.x < 32) {
      mbarrier_wait_parity(&empty[stage], parity ^ 1);
      ring[stage][lane] = in[i * 32 + lane];
      __syncwarp();
      if (lane == 31) mbarrier_arrive(&full[stage]);
    } else {
      mbarrier_wait_parity(&full[stage], parity);
      const float value = ring[stage][lane];
      __syncwarp();
      if (lane == 31) mbarrier_arrive(&empty[stage]);
      out[i * 32 + lane] = value * 2;
    }
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

// One mbarrier's memory: first a barrier of bytes, then a number, then a barrier of all threads.
extern "C" __global__ void made_again(const float* in, float* out) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier barrier;
  make_barrier(&barrier, 1);
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&barrier, kBytes);
    bulk_load(tile, in, kBytes, &barrier);
  }
  mbarrier_wait_parity(&barrier, 0);
  const float value = tile[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    mbarrier_invalidate(&barrier);
    *reinterpret_cast<volatile std::uint64_t*>(&barrier) = 2;
  }
  __syncthreads();
  const auto factor = static_cast<float>(*reinterpret_cast<volatile std::uint64_t*>(&barrier));
  __syncthreads();
  make_barrier(&barrier, kThreads);
  tile[threadIdx.x] = value * factor;
  mbarrier_arrive(&barrier);
  mbarrier_wait_parity(&barrier, 0);
  out[threadIdx.x] = tile[threadIdx.x ^ 127 ^ 127];
}

// Halves of sums go to the peer by stores to its shared memory: of the first round a cluster
// barrier tells, of the second an mbarrier of the peer.
extern "C" __global__ void __cluster_dims__(2, 1, 1) two_ways(const float* in, float* out) {
  __shared__ alignas(16) float box[2][kThreads][4];
  __shared__ Mbarrier came;
  init_barriers(&came, 1, kThreads);
  cluster_sync();
  const std::uint32_t rank = cluster_cta_rank(), other = rank ^ 1;
  const std::uint32_t thread = threadIdx.x;
  const auto give = [&](int round, float value) {
    const std::uint32_t to = shared_address(box[round][thread]);
    cluster_store_v4(map_shared_address(to, other), make_uint4(__float_as_uint(value), 0, 0, 0));
  };
  give(0, in[rank * kThreads + thread]);
  cluster_sync();
  const float theirs = box[0][thread][0];
  give(1, theirs);
  mbarrier_arrive_remote_release(&came, other);
  while (!mbarrier_try_wait_parity_cluster(&came, 0)) {
  }
  out[rank * kThreads + thread] = box[1][thread][0] * 2;  // it came back
  cluster_sync();
}

// All CTAs of the cluster add to the first one's numbers, by copies that reduce.
extern "C" __global__ void __cluster_dims__(4, 1, 1) reduced_in_peer(const float* in, float* out) {
  __shared__ alignas(16) std::uint32_t sums[kThreads], mine[kThreads];
  __shared__ Mbarrier came;
  init_barriers(&came, 1, 1);
  const std::uint32_t rank = cluster_cta_rank();
  sums[threadIdx.x] = 0;
  mine[threadIdx.x] = threadIdx.x + rank;
  fence_proxy_async();
  cluster_sync();
  if (threadIdx.x == 0) {
    if (rank == 0) mbarrier_arrive_expect_tx(&came, 4 * kBytes);
    asm volatile(
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
        "[%0], [%1], %2, [%3];" ::"r"(map_shared_address(shared_address(sums), 0)),
        "r"(shared_address(mine)), "r"(kBytes), "r"(map_shared_address(shared_address(&came), 0))
        : "memory");
  }
  if (rank == 0) {
    mbarrier_wait_parity(&came, 0);
    const bool right = sums[threadIdx.x] == 4 * threadIdx.x + 6;
    out[threadIdx.x] = right ? in[threadIdx.x] * 2 : 0;
  }
  cluster_sync();
}

// Three of four warps meet at one named barrier, other three at another one, in turns.
extern "C" __global__ void subsets(const float* in, float* out, int turns) {
  __shared__ float given[32], taken[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < turns; ++i) {
    if (warp == 0) given[lane] = in[i * 32 + lane];
    if (warp != 3) named_barrier_sync(1, 96);
    if (warp == 1) taken[lane] = given[lane] * 2;
    if (warp != 0) named_barrier_sync(2, 96);
    if (warp == 3) out[i * 32 + lane] = taken[lane];
    // The first warp does not wait for those that only read what it will not write.
    if (warp == 1 || warp == 3) named_barrier_sync(3, 64);
    if (warp == 0) named_barrier_sync(4, 64);
    if (warp == 1) named_barrier_arrive(4, 64);
  }
}

// Memory to memory by copies alone: a buffer is filled again when its store has read it.
extern "C" __global__ void copies_alone(const float* in, float* out, int turns) {
  constexpr int kStages = 3;
  __shared__ alignas(16) float stages[kStages][kThreads];
  __shared__ Mbarrier full[kStages];
  if (threadIdx.x != 0) return;
  for (Mbarrier& barrier : full) mbarrier_init(&barrier, 1);
  fence_mbarrier_init();
  for (int i = 0; i < turns + 1; ++i) {
    if (i < turns) {
      bulk_wait_read<kStages - 2>();
      mbarrier_arrive_expect_tx(&full[i % kStages], kBytes);
      bulk_load(stages[i % kStages], in + i * kThreads, kBytes, &full[i % kStages]);
    }
    if (i == 0) continue;
    const int last = i - 1;
    mbarrier_wait_parity(&full[last % kStages], last / kStages & 1);
    for (int twice = 0; twice < 2; ++twice)
      bulk_add<BulkType::f32>(out + last * kThreads, stages[last % kStages], kBytes);
    bulk_commit();
  }
  bulk_wait<0>();
}

// A box is changed where it lies and stored from there.
extern "C" __global__ void in_place(const float* in, float* out, int turns) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  for (int i = 0; i < turns; ++i) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&full, kBytes);
      bulk_load(tile, in + i * kThreads, kBytes, &full);
    }
    mbarrier_wait_parity(&full, i & 1);
    tile[threadIdx.x] *= 2;
    fence_proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      bulk_store(out + i * kThreads, tile, kBytes);
      bulk_commit();
      bulk_wait_read<0>();
    }
  }
  if (threadIdx.x == 0) bulk_wait<0>();
}

// A map that the kernel makes in shared memory, of one that is given: another address. A warp
// copies it to global memory with its fence, and another thread uses it there.
extern "C" __global__ void own_map(const float* in, const float* other, float* out,
                                   CUtensorMap* map, const __grid_constant__ CUtensorMap given) {
  __shared__ alignas(128) std::uint32_t words[32];
  __shared__ alignas(128) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  if (threadIdx.x < 32) {
    words[threadIdx.x] = reinterpret_cast<const std::uint32_t*>(&given)[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0)
      asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(
                       shared_address(words)),
                   "l"(in)
                   : "memory");
    __syncwarp();
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%0], [%1], 128;" ::"l"(map),
        "r"(shared_address(words))
        : "memory");
  }
  __syncthreads();
  if (threadIdx.x == kThreads - 1) {
    fence_tensor_map(map);
    mbarrier_arrive_expect_tx(&full, kBytes);
    tma_load_1d(tile, map, &full, 0);
  }
  mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x] * 2;
}

// cp.async that arrive themselves at the barrier, which counts the threads that issue them.
extern "C" __global__ void copies_arrive(const float4* in, float4* out, int turns) {
  __shared__ float4 tiles[2][32];
  __shared__ Mbarrier full[2], empty[2];
  make_barriers(full, 2, 32);
  make_barriers(empty, 2, 32);
  const unsigned lane = threadIdx.x % 32;
  for (int i = 0; i < turns; ++i) {
    const std::uint32_t parity = i / 2 & 1;
    if (threadIdx.x < 32) {
      mbarrier_wait_parity(&empty[i % 2], parity ^ 1);
      cp_async<16>(&tiles[i % 2][lane], in + i * 32 + lane);
      asm volatile(
          "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&full[i % 2]))
          : "memory");
    } else {
      mbarrier_wait_parity(&full[i % 2], parity);
      const float4 v = tiles[i % 2][31 - lane];
      mbarrier_arrive(&empty[i % 2]);
      out[i * 32 + 31 - lane] = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2);
    }
  }
}

// Two CTAs hand a box of global memory to each other and back: the first writes it by a bulk store
// and raises a flag, the second loads it by a bulk copy and answers.
extern "C" __global__ void box_between_ctas(const float* in, float* out, float* box,
                                            std::uint32_t* flags, int turns) {
  __shared__ alignas(16) float tile[kThreads];
  __shared__ Mbarrier full;
  make_barrier(&full, 1);
  const auto wait_for = [&](std::uint32_t* flag, int count) {
    while (load_acquire(flag) < static_cast<std::uint32_t>(count)) {
    }
  };
  for (int i = 0; i < turns; ++i) {
    if (blockIdx.x == 0) {
      tile[threadIdx.x] = in[i * kThreads + threadIdx.x];
      fence_proxy_async_shared();
      __syncthreads();
      if (threadIdx.x == 0) {
        wait_for(flags + 1, i);
        fence_proxy_async();
        bulk_store(box, tile, kBytes);
        bulk_commit();
        bulk_wait<0>();
        fence_proxy_async();
        increment_release(flags);
      }
    } else {
      if (threadIdx.x == 0) {
        wait_for(flags, i + 1);
        fence_proxy_async();
        mbarrier_arrive_expect_tx(&full, kBytes);
        bulk_load(tile, box, kBytes, &full);
      }
      mbarrier_wait_parity(&full, i & 1);
      out[i * kThreads + threadIdx.x] = tile[threadIdx.x] * 2;
      fence_proxy_async_shared();
      if (threadIdx.x == 0) increment_release(flags + 1);
    }
    __syncthreads();
  }
}

// Flags without acquire and release of their own: fences stand about them.
extern "C" __global__ void fenced_flags(const float* in, float* out, float* parts,
                                        std::uint32_t* flag) {
  if (blockIdx.x == 0) {
    parts[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      store_relaxed(flag, 1);
    }
  } else {
    if (threadIdx.x == 0) {
      while (load_relaxed(flag) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = parts[threadIdx.x] * 2;
  }
}

// One lane of a warp produces what the others of the same warp wait for.
extern "C" __global__ void within_a_warp(const float* in, float* out, int turns) {
  __shared__ alignas(16) float tiles[2][32];
  __shared__ Mbarrier full[2], empty[2];
  make_barriers(full, 2, 1);
  make_barriers(empty, 2, 31);
  for (int i = 0; i < turns; ++i) {
    const std::uint32_t parity = i / 2 & 1;
    if (threadIdx.x == 0) {
      mbarrier_wait_parity(&empty[i % 2], parity ^ 1);
      mbarrier_arrive_expect_tx(&full[i % 2], 128);
      bulk_load(tiles[i % 2], in + i * 32, 128, &full[i % 2]);
    } else {
      mbarrier_wait_parity(&full[i % 2], parity);
      out[i * 32 + threadIdx.x] = tiles[i % 2][threadIdx.x] * 2;
      if (threadIdx.x == 1) out[i * 32] = tiles[i % 2][0] * 2;
      fence_proxy_async_shared();
      mbarrier_arrive(&empty[i % 2]);
    }
  }
}

// Warps that are done drop out of the barrier, which the others go on with.
extern "C" __global__ void dropping_out(const float* in, float* out) {
  __shared__ float tile[kThreads];
  __shared__ Mbarrier barrier;
  make_barrier(&barrier, kThreads);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int i = 0; i < 4; ++i) {
    if (warp == i) {
      tile[threadIdx.x] = in[threadIdx.x] * 2;
      asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
                   : "memory");
      if (i < 3) return;
    } else {
      mbarrier_arrive(&barrier);
    }
    mbarrier_wait_parity(&barrier, i & 1);
  }
  for (int i = static_cast<int>(threadIdx.x) % 32; i < kThreads; i += 32) out[i] = tile[i];
}

// Threads that have nothing to do leave before the barrier, whole warps and lanes of one: those
// that have not left are all that it waits for.
extern "C" __global__ void left_early(const float* in, float* out, int count) {
  __shared__ float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  if (t >= count) return;
  tile[t] = in[t] * 2;
  __syncthreads();
  out[count - 1 - t] = tile[count - 1 - t];
}

// SPDX-License-Identifier: Apache-2.0
// Reads a large array through a ring of shared-memory stages that TMA fills: one persistent CTA per
// SM, one thread that issues copies, eight warps that add up every word that arrives.
//
// Bytes in flight per SM are stages x tile bytes. By Little's law an H200 needs 4.8 TB/s x about
// 0.8 us / 132 SMs = 29 KB of them, before any jitter.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "harness/device.hpp"
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/tma.cuh"
#include "harness/state.hpp"
#include "probes/memory/dram_limit.hpp"

namespace assay {

inline constexpr int kStreamConsumers = 256;  // threads
inline constexpr int kStreamThreads = 32 + kStreamConsumers;
inline constexpr int kStreamMaxStages = 32;

struct StreamShape {
  std::uint32_t tiles;       // in the array
  std::uint32_t tile_bytes;  // a multiple of 16
  int stages;
};

// Adds the sum of all 32-bit words of the array to *sum. `load(tile, destination, barrier)` issues
// the copy of one tile and completes on the barrier. Dynamic shared memory: stages * tile_bytes.
template <class Load>
__device__ void stream_tiles(StreamShape shape, std::uint32_t* sum, const Load& load) {
  extern __shared__ __align__(1024) char stages[];
  __shared__ ptx::Mbarrier full[kStreamMaxStages], empty[kStreamMaxStages];
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < shape.stages; ++stage) {
      ptx::mbarrier_init(&full[stage], 1);
      ptx::mbarrier_init(&empty[stage], kStreamConsumers / 32);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();

  int stage = 0;
  std::uint32_t parity = 0;
  const auto advance = [&] {
    if (++stage == shape.stages) stage = 0, parity ^= 1;
  };
  if (threadIdx.x < 32) {
    if (!ptx::elect_one()) return;
    for (std::uint32_t tile = blockIdx.x; tile < shape.tiles; tile += gridDim.x, advance()) {
      ptx::mbarrier_wait_parity(&empty[stage], parity ^ 1);
      ptx::mbarrier_arrive_expect_tx(&full[stage], shape.tile_bytes);
      load(tile, stages + stage * shape.tile_bytes, &full[stage]);
    }
    return;
  }
  std::uint32_t mine = 0;
  for (std::uint32_t tile = blockIdx.x; tile < shape.tiles; tile += gridDim.x, advance()) {
    ptx::mbarrier_wait_parity(&full[stage], parity);
    const char* arrived = stages + stage * shape.tile_bytes;
#pragma unroll 4
    for (std::uint32_t i = (threadIdx.x - 32) * 16; i < shape.tile_bytes;
         i += kStreamConsumers * 16) {
      const uint4 v = *reinterpret_cast<const uint4*>(arrived + i);
      mine += v.x + v.y + v.z + v.w;
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(&empty[stage]);
  }
  mine = __reduce_add_sync(0xffffffff, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

// The same sum by ordinary loads.
static __global__ void sum_words(const std::uint32_t* words, std::size_t count,
                                 std::uint32_t* sum) {
  std::uint32_t mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += words[i];
  atomicAdd(sum, mine);
}

// Times `launch(stream, ctas, sum)`, which streams all of `array` once, against the DRAM's limit,
// and requires that every launch added up what ordinary loads add up.
template <class Launch>
void measure_stream(State& s, const char* array, std::size_t bytes, const Launch& launch) {
  auto* sums = s.allocate<std::uint32_t>(2);
  check(cudaMemsetAsync(sums, 0, 2 * sizeof(*sums), s.stream()));
  sum_words<<<1024, 256, 0, s.stream()>>>(reinterpret_cast<const std::uint32_t*>(array), bytes / 4,
                                          &sums[0]);
  check(cudaGetLastError());
  std::uint32_t launches = 0;
  s.time({.bytes = static_cast<double>(bytes), .limit = dram_limit(s.device())},
         [&](cudaStream_t stream) {
           launch(stream, s.device().sm_count, &sums[1]);
           ++launches;
         });
  const auto seen = download(sums, 2, s.stream());
  s.require(seen[1] == seen[0] * launches, "what TMA delivered does not add up");
}

// Far larger than any L2, so that no launch finds there what the one before left.
inline constexpr std::size_t kStreamBytes = std::size_t{4} << 30;

}  // namespace assay

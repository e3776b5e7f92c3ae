// SPDX-License-Identifier: Apache-2.0
// Reads a large array through a ring of shared-memory stages that TMA fills: in each CTA one thread
// that issues copies, eight warps that add up every word that arrives.
//
// Who reads which tile when: CTA b takes `run` consecutive tiles, then skips those of the other
// CTAs. Either as many CTAs as the SMs hold go on to the end, and the slowest SM ends the launch;
// or each CTA has one run, and the hardware hands the next to whichever SM is free.
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
  std::uint32_t run;  // consecutive tiles of one CTA; divides `tiles`
};
inline constexpr int kOneRunEach = 0;  // in place of a number of CTAs per SM

// The tiles of this CTA, one after another, without a division: the issuing thread has some 500
// cycles for each.
class Turn {
 public:
  __device__ explicit Turn(std::uint32_t run) : tile_(blockIdx.x * run), run_(run), left_(run) {}
  __device__ std::uint32_t tile() const { return tile_; }
  __device__ void next() {
    ++tile_;
    if (--left_) return;
    left_ = run_;
    tile_ += (gridDim.x - 1) * run_;
  }

 private:
  std::uint32_t tile_, run_, left_;
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
  Turn turn(shape.run);
  const auto advance = [&] {
    turn.next();
    if (++stage == shape.stages) stage = 0, parity ^= 1;
  };
  if (threadIdx.x < 32) {
    if (!ptx::elect_one()) return;
    for (; turn.tile() < shape.tiles; advance()) {
      ptx::mbarrier_wait_parity(&empty[stage], parity ^ 1);
      ptx::mbarrier_arrive_expect_tx(&full[stage], shape.tile_bytes);
      load(turn.tile(), stages + stage * shape.tile_bytes, &full[stage]);
    }
    return;
  }
  std::uint32_t mine = 0;
  for (; turn.tile() < shape.tiles; advance()) {
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

// Far larger than any L2, so that no launch finds there what the one before left.
inline constexpr std::size_t kStreamBytes = std::size_t{4} << 30;

// Times `launch(stream, ctas, sum)`, which streams all of `array` once, against the DRAM's limit,
// and requires that every launch added up what ordinary loads add up.
template <class Launch>
void measure_stream(State& s, const char* array, StreamShape shape, const Launch& launch) {
  const std::int64_t per_sm = s.i64("ctas_per_sm");
  const auto ctas = static_cast<unsigned>(per_sm == kOneRunEach ? shape.tiles / shape.run
                                                                : per_sm * s.device().sm_count);
  auto* sums = s.allocate<std::uint32_t>(2);
  check(cudaMemsetAsync(sums, 0, 2 * sizeof(*sums), s.stream()));
  sum_words<<<1024, 256, 0, s.stream()>>>(reinterpret_cast<const std::uint32_t*>(array),
                                          kStreamBytes / 4, &sums[0]);
  check(cudaGetLastError());
  std::uint32_t launches = 0;
  s.time({.bytes = double{kStreamBytes}, .limit = dram_limit(s.device())},
         [&](cudaStream_t stream) {
           launch(stream, ctas, &sums[1]);
           ++launches;
         });
  const auto seen = download(sums, 2, s.stream());
  s.require(seen[1] == seen[0] * launches, "what TMA delivered does not add up");
}

}  // namespace assay

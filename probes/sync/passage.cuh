// SPDX-License-Identifier: Apache-2.0
// The proof that a barrier works: nobody leaves it before everybody has arrived. It is told by
// flags in shared memory, not by clocks: a clock read behind a barrier need not wait for it.
#pragma once
#include <cstdint>

#include "harness/cuda.hpp"
#include "harness/state.hpp"

namespace assay {

inline constexpr int kMaxWarps = 32;         // of one CTA
inline constexpr int kLatenessCycles = 500;  // of the last warp

// Goes once through the barrier for each warp, and that warp arrives long after the others. Each
// warp tells its round before the barrier and reads all the others' behind it; *early counts what
// has not arrived yet. `barrier(round)` is one passage of a group of `threads` that follow each
// other; all threads of the CTA call.
template <class Barrier>
__device__ void prove_barrier(std::uint32_t* early, const Barrier& barrier, unsigned threads) {
  __shared__ volatile int all_arrived[kMaxWarps];
  const int warps = (threads + 31) / 32, lane = threadIdx.x % 32;
  const int warp = threadIdx.x % threads / 32;  // of the group
  volatile int* arrived = all_arrived + (threadIdx.x / 32 - warp);
  if (lane == 0) arrived[warp] = -1;
  __syncthreads();
  for (int round = 0; round < warps; ++round) {
    if (warp == round)
      for (const auto begin = ptx::clock64(); ptx::clock64() - begin < kLatenessCycles;) {
      }
    if (lane == 0) arrived[warp] = round;
    barrier(round);
    if (lane < warps && arrived[lane] < round) atomicAdd(early, 1);
  }
}
template <class Barrier>
__device__ void prove_barrier(std::uint32_t* early, const Barrier& barrier) {
  prove_barrier(early, barrier, blockDim.x);
}

// A counter for prove_barrier(), at zero.
inline std::uint32_t* early_counter(State& s) {
  auto* early = s.allocate<std::uint32_t>(1);
  check(cudaMemsetAsync(early, 0, sizeof(*early), s.stream()));
  return early;
}

// Fails the case if any warp of any launch was counted.
inline void require_barrier(State& s, const std::uint32_t* early) {
  s.require(download(early, 1, s.stream()).front() == 0,
            "a warp left the barrier before all had arrived");
}

}  // namespace assay

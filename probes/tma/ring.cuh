// SPDX-License-Identifier: Apache-2.0
// The rings of warps that stream an array (movers.hpp).
#pragma once
#include "harness/ptx/elect.cuh"
#include "harness/ptx/fence.cuh"
#include "harness/ptx/mbarrier.cuh"
#include "probes/tma/movers.hpp"

namespace assay {

// The tiles of this warp, one after another.
class Turn {
 public:
  __device__ explicit Turn(const StreamWork& work)
      : work_(work), place_(threadIdx.x / 32), part_(blockIdx.x) {}
  __device__ std::uint32_t tile() const {
    return part_ * work_.part_stride + place_ * work_.tile_stride;
  }
  __device__ void next() {
    place_ += blockDim.x / 32;
    if (place_ < work_.tiles) return;
    place_ = threadIdx.x / 32;
    if (++part_ == gridDim.x) part_ = 0;
  }
  // In all passes.
  __device__ std::uint32_t count() const {
    const std::uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
    return warp < work_.tiles ? (work_.tiles - warp + warps - 1) / warps * work_.passes : 0;
  }

 private:
  const StreamWork& work_;
  std::uint32_t place_, part_;
};

__device__ inline std::uint32_t sum_of(const uint4& v) { return v.x + v.y + v.z + v.w; }

// Leaves what a warp's lanes have added up.
__device__ inline void add_sum(std::uint32_t* sum, std::uint32_t mine) {
  mine = __reduce_add_sync(0xffffffff, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// Streams this warp's tiles. `issue(tile, destination, barrier)`, called by one thread, starts the
// copy of one tile and completes on the barrier. Dynamic shared memory: a pitch for each slot.
template <class Issue>
__device__ void stream_ring(const StreamWork& work, const Issue& issue) {
  extern __shared__ __align__(1024) char slots[];
  __shared__ ptx::Mbarrier barriers[kMostSlots];
  const int first = static_cast<int>(threadIdx.x / 32) * work.stages;
  char* mine = slots + first * work.slot_pitch;
  ptx::Mbarrier* full = barriers + first;
  if (ptx::elect_one()) {
#pragma unroll 1
    for (int stage = 0; stage < work.stages; ++stage) ptx::mbarrier_init(&full[stage], 1);
    ptx::fence_mbarrier_init();
  }
  __syncwarp();

  Turn turn(work);
  const std::uint32_t count = turn.count();
  const auto fill = [&](int stage) {
    if (ptx::elect_one()) {
      ptx::mbarrier_arrive_expect_tx(&full[stage], work.slot_bytes);
      issue(turn.tile(), mine + stage * work.slot_pitch, &full[stage]);
    }
    turn.next();
  };
#pragma unroll 1
  for (std::uint32_t i = 0; i < count && i < work.stages; ++i) fill(static_cast<int>(i));
  std::uint32_t sum = 0, parity = 0;
  int stage = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < count; ++i) {
    ptx::mbarrier_wait_parity(&full[stage], parity);
    if (work.consume) {
      const char* arrived = mine + stage * work.slot_pitch;
#pragma unroll 4
      for (std::uint32_t at = threadIdx.x % 32 * 16; at < work.slot_bytes; at += 512)
        sum += sum_of(*reinterpret_cast<const uint4*>(arrived + at));
    }
    __syncwarp();
    if (i + work.stages < count) fill(stage);
    if (++stage == work.stages) stage = 0, parity ^= 1;
  }
  add_sum(work.sum, sum);
}
#endif

}  // namespace assay

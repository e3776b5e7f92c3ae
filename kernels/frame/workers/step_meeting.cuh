// SPDX-License-Identifier: Apache-2.0
// The device's part of step_meeting.hpp.
#pragma once
#include <cstdint>

#include "harness/ptx/ordered_memory.cuh"
#include "kernels/frame/workers/step_meeting.hpp"

namespace assay::kernels {

// A worker's part in the meetings, for one of its threads; of those that do not take part, nothing.
//
// The counter has the arrivals of all in its lower 24 bits, and above them how many have left for
// good. When one has, no arrival is waited for any more: the counter is larger than all of them.
// The last to leave makes it 0 again.
class StepKeeper {
 public:
  __device__ StepKeeper(const StepMeeting& meeting, bool takes_part)
      : meeting_(meeting),
        takes_part_(takes_part && meeting.counter != nullptr),
        left_(meeting.every) {}

  // After each tile: how many stages it took. Not after each stage: loaders of small tiles have no
  // instruction to spare.
  __device__ void loaded(int stages) {
    if (!takes_part_) return;
    left_ -= stages;
    if (left_ <= 0) meet();
  }

  // After all.
  __device__ void leave() const {
    if (!takes_part_) return;
    const std::uint32_t gone = ptx::fetch_add(meeting_.counter, 1u << kArrivalBits) >> kArrivalBits;
    if (gone + 1 == static_cast<std::uint32_t>(meeting_.workers))
      ptx::store_relaxed(meeting_.counter, 0);
  }

 private:
  static constexpr int kArrivalBits = 24;
  static constexpr int kLooks = 8;  // about 5 us

  __device__ void meet() {
    left_ = meeting_.every;
    all_ += static_cast<std::uint32_t>(meeting_.workers);
    std::uint32_t there = ptx::fetch_add(meeting_.counter, 1) + 1;
#pragma unroll 1
    for (int looks = 0; there < all_ && looks < kLooks; ++looks)
      there = ptx::load_relaxed(meeting_.counter);
  }

  const StepMeeting& meeting_;
  bool takes_part_;
  int left_;               // stages until the next meeting
  std::uint32_t all_ = 0;  // arrivals when all have come
};

}  // namespace assay::kernels

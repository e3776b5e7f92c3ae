// SPDX-License-Identifier: Apache-2.0
// An array in device memory, to be streamed to the SMs in every way there is (movers.hpp).
#pragma once
#include <cstdint>

#include "harness/state.hpp"
#include "probes/tma/movers.hpp"

namespace assay {

// One way to read all of the array.
struct StreamJob {
  const Mover* mover = nullptr;
  Pipeline pipeline = {};
  BoxForm form = {};         // of tensor copies; dimensions and box bytes follow from the others
  bool interleaved = false;  // neighbouring tiles go to different SMs, rather than to one
  std::uint32_t passes = 1;
  bool consume = false;  // add up what arrives also when timed
};

class Streamer {
 public:
  // Fills `bytes` of device memory with random bits; skips the case if they are not free.
  Streamer(State& s, std::uint64_t bytes);

  // Launches once, adding up all that arrives, and requires the sum that plain loads find. Tensor
  // copies: also that three boxes arrive element by element where box plan and swizzle say.
  void verify(const StreamJob& job);
  // Bytes that a launch of this job reads.
  double bytes(const StreamJob& job) const;
  void launch(const StreamJob& job, cudaStream_t stream);
  // Of one launch, by events around it.
  double gb_per_s(const StreamJob& job);

  // Most bytes that can be in flight on an SM, in whole KiB: what its shared memory holds beside
  // the barriers and what the system keeps.
  static std::uint64_t most_in_flight(const State& s, int ctas_per_sm = 1);
  // Whether an SM has room for it, in shared memory or in threads, and the array for its tiles.
  bool fits(const StreamJob& job) const;

 private:
  StreamWork work_of(const StreamJob& job) const;
  BoxPlan plan_of(const StreamJob& job) const;
  void verify_boxes(const StreamJob& job);

  State& s_;
  char* array_;
  std::uint64_t bytes_;
  std::uint32_t* sums_;  // of plain loads, of the stream
  Event begin_, end_;
};

}  // namespace assay

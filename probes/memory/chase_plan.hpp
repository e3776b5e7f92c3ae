// SPDX-License-Identifier: Apache-2.0
// Chases of one warp over many footprints, enqueued together and read back once: a point of a
// latency curve costs what its loads take and nothing else.
#pragma once
#include <cstdint>
#include <vector>

#include "harness/probe.hpp"
#include "harness/state.hpp"
#include "probes/memory/chase.hpp"

namespace assay {

// A load that chases. <a> in its text is the address, and its result the next one.
struct ChaseLoad {
  const char* name;
  const char* load;  // "ld.global.ca.u64"
  int bytes;         // per lane: 4 chases by offset, 8 by address, 16 and 32 count on the side
  const char* sass;  // opcode
};

inline constexpr int kChaseUnroll = 32;

KernelUse chase_use(const ChaseLoad& load, Target target);

// How a footprint is walked.
struct ChasePoint {
  PlaceLayout layout;
  std::uint32_t warm_steps = 0;  // before the clock starts
  bool visited = false;          // the SM that walks goes round all of it some times before
};

// Cycles per load at each point, the median of three walks from different places; every walk's end
// is checked. Points are tied and walked in their order, so that they may lie in one buffer.
std::vector<double> chase_points(State& s, const ChaseLoad& load,
                                 const std::vector<ChasePoint>& points);

// `per_octave` footprints a factor of two from `low` to `high`, in bytes, rounded to 128.
std::vector<std::uint64_t> footprints(std::uint64_t low, std::uint64_t high, int per_octave);

}  // namespace assay

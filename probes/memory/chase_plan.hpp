// SPDX-License-Identifier: Apache-2.0
// Chases of one warp over many footprints, enqueued together and read back once: a point of a
// latency curve costs what its loads take and nothing else.
#pragma once
#include <cstdint>
#include <vector>

#include "harness/probe.hpp"
#include "harness/state.hpp"
#include "probes/memory/chase.hpp"
#include "probes/memory/visit.hpp"

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

// How a footprint is walked, and what is done before the clock starts, so many rounds each.
struct ChasePoint {
  PlaceLayout layout;
  // The walk itself goes round: L1, and TLBs of pages that are read once each, come to hold what
  // they can.
  bool walked = false;
  // The SM goes round faster, past L1, in the walk's order (probes/memory/visit.hpp): L2 comes to
  // hold what it can. Of a ring far larger than L2 the last places before the walk are enough.
  bool visited = false;
};

// Cycles per load at each point, the median of three walks from different places; every walk's end
// is checked. Points are tied and walked in their order, so that they may lie in one buffer.
std::vector<double> chase_points(State& s, const ChaseLoad& load,
                                 const std::vector<ChasePoint>& points, int rounds = 2);

// The same, after as many rounds as it takes until two passes over a point agree.
std::vector<Settled> chase_until_steady(State& s, const ChaseLoad& load,
                                        const std::vector<ChasePoint>& points);

// `per_octave` footprints a factor of two from `low` to `high`, in bytes, rounded to 128.
std::vector<std::uint64_t> footprints(std::uint64_t low, std::uint64_t high, int per_octave);

}  // namespace assay

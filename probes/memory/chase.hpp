// SPDX-License-Identifier: Apache-2.0
// What the pointer chases through global memory share.
//
// A line holds the 64-bit address of the next, so the chain is loads and nothing else: no index is
// scaled or added to a base between one load and the next. One warp per SM walks, all its lanes on
// the same address, and every SM is recorded.
#pragma once
#include <cstdint>

#include "harness/state.hpp"
#include "probes/memory/ring.hpp"

namespace assay {

struct alignas(128) Line {  // a cache line of every GPU there is
  Line* next;
};

inline constexpr int kChaseSteps = 64;  // loads in one iteration

// Walks kChaseSteps * iterations lines from cursors[blockIdx.x], and leaves there where it came to.
using ChaseKernel = void (*)(std::int64_t iterations, Line** cursors, StopwatchRecord* records);

// Measures `kernel` on every SM. There are `rings` rings of 2^bits lines (at least kChaseSteps):
// one for all SMs, or one for each. Every ring is walked once round before, and every walk's end is
// checked after.
void measure_chase(State& s, int rings, int bits, ChaseKernel kernel);

}  // namespace assay

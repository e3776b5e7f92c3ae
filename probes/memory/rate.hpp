// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/callable.hpp"
#include "harness/state.hpp"

namespace assay {

// What one iteration took until the last SM was done, in nanoseconds and in as many cycles of the
// median SM's clock.
struct Rate {
  Estimate cycles, ns;
};

// A point of a bandwidth curve, in a few milliseconds. One CTA per SM leaves a record.
//
// Both are of the same stretch of the same launch, the median of six alike: all its iterations
// from the first SM's start to the last SM's stop, by the SMs' own timers, so that no launch
// overhead is inside. A difference of n and 2n iterations would not do here: where a footprint is
// about as large as a cache, the two find the cache in different states, and their difference is a
// rate that nothing ever had.
Rate rate_once(State& s, const Callable<void(const Launch&)>& launch);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/callable.hpp"
#include "harness/state.hpp"

namespace assay {

// What one iteration took: in cycles as the median SM saw it, and in time for the whole GPU.
struct Rate {
  double cycles, ns;
};

// A point of a bandwidth curve, in a few milliseconds: the medians over three runs of n and 2n
// iterations in turn, so that what is not in the loop cancels. One CTA per SM leaves a record.
Rate rate_once(State& s, const Callable<void(const Launch&)>& launch);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// The figure that probes of 2^x beside matrix math share.
#pragma once
#include <functional>

#include "harness/state.hpp"

namespace assay {

using Launchable = std::function<void(const Launch&)>;

// Measures the loop of both, `work` a round, and with as many rounds the loops of either alone.
// Adds overlap = (t_mma + t_ex2 - t_both) / min(t_mma, t_ex2) as the primary metric: 1 if the
// shorter one costs nothing, 0 if they take turns.
void measure_overlap(State& s, const Work& work, const Launchable& both, const Launchable& mma,
                     const Launchable& ex2);

}  // namespace assay

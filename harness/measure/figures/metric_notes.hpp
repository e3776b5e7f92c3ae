// SPDX-License-Identifier: Apache-2.0
// What metrics mean, in words: those that follow from the work, and those a probe adds.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "harness/probe.hpp"

namespace assay {

// Metrics that mean the same in every probe, unless it says otherwise.
const std::vector<MetricNote>& standard_metrics();

// The first note whose name is `metric`, or else the first whose pattern fits; empty if none does.
std::string find_meaning(const std::vector<MetricNote>& notes, std::string_view metric);

// As the probe describes it, or else as the standard metric; empty if neither is there.
std::string describe(const Probe& probe, std::string_view metric);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// What the metrics of a run mean, for its file.
#pragma once
#include <vector>

#include "harness/run/json_document.hpp"

namespace assay {

// By name: "latency_cycles" where it means what it means everywhere, "<probe>:<metric>" where the
// probe says so itself. Measurements of probes that this program does not have add nothing.
Json metric_descriptions(const std::vector<Json>& measurements);

}  // namespace assay

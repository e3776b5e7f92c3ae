// SPDX-License-Identifier: Apache-2.0
// The SMs of each GPC, found by launching clusters.
#pragma once
#include <vector>

#include "probes/placement/hold.hpp"

namespace assay {

struct GpcMap {
  std::vector<int> of_sm;  // -1: no CTA ran there
  std::vector<int> again;  // the same from other launches
  int clusters = 0;        // that were seen
};

// Launches clusters of every size there is. Skips the case on a GPU without clusters.
GpcMap map_gpcs(State& s, Holder& holder);

}  // namespace assay

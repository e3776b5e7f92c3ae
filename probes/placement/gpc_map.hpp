// SPDX-License-Identifier: Apache-2.0
// The SMs of each GPC, found by launching clusters.
#pragma once
#include <vector>

#include "probes/placement/hold.hpp"

namespace assay {

struct GpcMap {
  std::vector<int> of_sm;          // as GpcGroups::of_sm() has it
  std::vector<int> again;          // the same from other launches
  std::vector<int> most_clusters;  // at once by their size, from 1, as the driver has it
  int unexplained = 0;  // the first of those sizes that the map does not explain; 0: none
  int clusters = 0;     // that were seen
};

// Launches clusters of every size there is until the groups explain how many of them the driver
// says to fit, or as often as it is worth. Skips the case on a GPU without clusters.
GpcMap map_gpcs(State& s, Holder& holder);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// Many cases in few lines: what their names have in common, and the values where they differ.
#pragma once
#include <string>
#include <vector>

#include "harness/probe.hpp"

namespace assay::commands {

struct CaseLine {
  std::string pattern;              // "collective/all_reduce/<type>/<bytes>/<gpus>gpus[/graph]"
  std::vector<std::string> values;  // "type: bf16, e4m3", for each <...> of the pattern
  std::vector<const Case*> cases;
};

// Cases in one line exist for the same targets, and every combination of its values is one of them.
std::vector<CaseLine> case_lines(const Probe& probe, const std::vector<const Case*>& cases);

}  // namespace assay::commands

// SPDX-License-Identifier: Apache-2.0
// When a single warp would issue the instructions of a loop.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/sass/cost/control_code.hpp"
#include "harness/sass/cost/cost_table.hpp"

namespace assay::sass {

// Which step something was waiting for: of the iteration shown, or of an earlier one.
struct Producer {
  std::size_t step;
  int iterations_ago;
};

struct Step {
  std::size_t index = 0;  // into Function::code
  ControlCode control = {};
  double issue = 0;      // cycles since the first instruction of the iteration issued
  double waited = 0;     // of those, beyond the stall count of the instruction before
  std::string why = {};  // what for: "scoreboard 1", "alu busy", "1 group of MMAs outstanding"
  std::optional<Producer> producer = {};
  double begin = 0, end = 0;  // its pipe is busy with it
  double done = 0;            // its result can be used
};

struct Schedule {
  double cycles = 0;   // of an iteration, once every iteration takes the same
  int stalls = 0;      // sum of the stall counts: what the iteration takes if nothing is waited for
  bool steady = true;  // false: iterations still differed when the simulation was given up
  std::vector<Step> steps;
};

// One warp alone on its SM, issuing in order: after the stall count of the instruction before, when
// the scoreboards waited for are at zero, and when the pipe of its scheduler is free. Scoreboards
// fall after the latencies of `table`; wgmma and bulk copies run beside the warp, which waits for
// them only where it says so. Data from elsewhere (mbarriers, other warps) is always ready.
//
// `path` is one iteration, as indices into the function's code.
Schedule estimate_schedule(const Function& function, const std::vector<std::size_t>& path,
                           const CostTable& table);

}  // namespace assay::sass

// SPDX-License-Identifier: Apache-2.0
// The loops of a kernel as they run: how they nest, and what one iteration issues.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "harness/code/control_flow.hpp"
#include "harness/sass/warp/warp_roles.hpp"

namespace assay::sass {

// What warps of one role do in a loop.
struct LoopPart {
  WarpSet who;
  // One likely iteration in order of issue, as indices into Function::code. Of two ways it takes
  // the one with fewer calls; else a conditional branch is passed by as long as that stays in the
  // loop. Predicated instructions count as executed; a loop inside is gone through once.
  std::vector<std::size_t> path;
  // What is executed whichever way an iteration takes, in order of issue.
  std::vector<std::size_t> always = {};
  int calls_avoided = 0;  // branches of the path that lead around a call
  int calls = 0;          // calls on the path: what they lead to is not counted
  int open_branches = 0;  // branches of the path that nothing but their place decided
};

struct LoopPath {
  Loop loop;
  int depth = 1;                // 2: inside one other loop
  bool innermost = true;        // but for loops that wait
  bool spins = false;           // does nothing but wait: an mbarrier's try_wait, a flag in memory
  std::vector<LoopPart> parts;  // warps that can reach different instructions take different paths
  std::size_t off_path = 0;     // instructions of the body that are on none
};

// What the likely path takes for granted, as half a sentence: "no slow path is called (3), 1 branch
// is passed by". Empty if the loop has one way only.
std::string assumption(const LoopPath& loop);

// In the order of find_loops(); `reach` as reaching_warps() gives it.
std::vector<LoopPath> loop_paths(const Function& function, const std::vector<WarpSet>& reach);

// "0670..0990": addresses of the first and the last instruction on the paths.
std::string address_range(const Function& function, const LoopPath& loop);

}  // namespace assay::sass

// SPDX-License-Identifier: Apache-2.0
// What a kernel's loops consist of, which pipe bounds them, and how long they should take.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/sass/cost/cost_table.hpp"
#include "harness/sass/loop_path.hpp"
#include "harness/sass/schedule.hpp"
#include "harness/sass/warp/warp_roles.hpp"

namespace assay::sass {

inline constexpr int kSchedulers = 4;  // of an SM, since sm_50

struct OpcodeLoad {
  std::string opcode;
  int count = 0;  // on the path
  Cost cost = {};
};

// One pipe's share of an iteration. The issue slot is a pipe too: a scheduler issues one warp
// instruction per cycle; and so are the banks of registers (register_reads.hpp).
struct PipeLoad {
  std::string_view pipe;  // "issue", "registers", "fma", ...
  int instructions = 0;
  double warp_cycles = 0;  // busy for one warp
  double cycles = 0;       // busy for all warps: the SM's pipe, or that of the scheduler with most
};

// What a run measured, in the same unit: cycles of the SM clock in which every warp that runs the
// loop goes through it once.
struct MeasuredLoop {
  double cycles;
  std::string name;  // of the measurement
  std::string how;   // how cycles follow from it
};

// What warps of one role do in a loop.
struct PartAnalysis {
  WarpSet who = 0;                  // which warps of a CTA
  int warps = 0;                    // of an SM
  std::vector<OpcodeLoad> opcodes;  // the costliest first
  std::vector<PipeLoad> pipes;      // the busiest first
  Schedule schedule;                // of one warp alone
  std::vector<PipeLoad> least;      // pipes, by what every iteration executes at its least cost
  int least_stalls = 0;             // stall counts of what every iteration executes
};

// A number of cycles, and what it follows from.
struct Cycles {
  double cycles = 0;
  std::string_view by;
};

struct LoopAnalysis {
  LoopPath shape;
  std::vector<PartAnalysis> parts;  // as shape.parts
  std::vector<PipeLoad> pipes;      // of all parts together; warp_cycles are sums over the roles
  Cycles least = {};                // no iteration is faster, whichever way it takes
  std::optional<MeasuredLoop> measured = {};

  std::string assumed() const;  // of the path, and of what addresses would tell; empty: nothing
  int warps() const;            // of an SM, that run the loop
  double single_warp() const;   // cycles of a warp alone, in the slowest role
  double pipe_bound() const { return pipes.front().cycles; }
  // On the likely path no pipe can be busy longer than the loop takes, and no warp be faster than
  // alone; but costs may be those of a like instruction, and the likely path may not be taken.
  double predicted() const { return std::max(pipe_bound(), single_warp()); }
  std::string_view bound_by() const {
    return pipe_bound() >= single_warp() ? pipes.front().pipe : "one warp's latency";
  }
};

struct KernelAnalysis {
  std::shared_ptr<const Function> function;
  int warps = 0;            // of an SM, all of them
  std::string warps_known;  // where that number is from
  std::vector<LoopPath> loops;
  std::vector<WarpSet> reach;     // for each instruction; see reaching_warps()
  std::vector<LoopAnalysis> hot;  // the loops worth a look, the hottest first
};

struct AnalysisOptions {
  int warps = 0;  // of an SM, that run the loops; 0: all warps of one CTA, by its launch bounds
  std::size_t hot = 3;                   // loops to look at
  std::optional<std::size_t> loop = {};  // this one alone (its header): what a probe measures
};

KernelAnalysis analyse(std::shared_ptr<const Function> function, const CostTable& table,
                       const AnalysisOptions& options = {});

}  // namespace assay::sass

// SPDX-License-Identifier: Apache-2.0
// An operation's architecture paths, and the choice between them.
//
// Each path registers itself from the folder of its architecture, so that a new one touches nothing
// else, and a program built for other targets does without it.
#pragma once
#include <cuda_runtime_api.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/callable.hpp"
#include "harness/error.hpp"
#include "harness/probe.hpp"
#include "harness/target.hpp"

namespace assay::kernels {

// An operation on given operands, made once and run any number of times on the device that was
// current when it was made.
struct Plan {
  std::string variant;  // the form of the kernel, recorded as the case's parameter "variant"
  Callable<void(cudaStream_t)> run;
};

// One architecture's way to do an operation. Problem and Operands are the operation's own structs;
// Problem::text() names one in messages.
template <class Problem, class Operands>
struct Path {
  std::string name;             // "sm90"
  std::vector<Target> targets;  // where it runs
  // Why it cannot do a problem; empty if it can.
  Callable<std::string(const Problem&)> refusal;
  Callable<Plan(const Problem&, const Operands&)> plan;
  // What a plan launches, and what its machine code must show. Called without a GPU too.
  Callable<std::vector<KernelUse>(const Problem&)> kernels;
};

// The paths of one operation.
template <class Problem, class Operands>
class Paths {
 public:
  using Path = kernels::Path<Problem, Operands>;

  // A namespace-scope `const GemmPaths::Registration path{gemm_paths(), {.name = ...}};` adds one.
  struct Registration {
    Registration(Paths& paths, Path path) { paths.paths_.push_back(std::move(path)); }
  };

  // Where the problem can be done.
  std::vector<Target> targets(const Problem& problem) const {
    std::set<Target> found;
    for (const Path& path : paths_) {
      if (path.refusal(problem).empty()) found.insert(path.targets.begin(), path.targets.end());
    }
    return {found.begin(), found.end()};
  }

  // Of the paths that can do the problem on the target, the one made for the fewest targets: an
  // architecture's own comes before one for all. Throws Error(unfit) saying why each cannot.
  const Path& choose(const Problem& problem, Target target) const {
    const Path* chosen = nullptr;
    std::string reasons;
    for (const Path& path : paths_) {
      const std::string reason = refusal(path, problem, target);
      if (!reason.empty()) {
        reasons += "; path " + path.name + " " + reason;
      } else if (!chosen || path.targets.size() < chosen->targets.size()) {
        chosen = &path;
      }
    }
    if (chosen) return *chosen;
    throw Error(ExitCode::unfit, problem.text() + " cannot run here" +
                                     (reasons.empty() ? "; no path was built" : reasons));
  }

 private:
  static std::string refusal(const Path& path, const Problem& problem, Target target) {
    std::string runs_on;
    for (const Target one : path.targets) {
      if (one == target) return path.refusal(problem);
      runs_on += (runs_on.empty() ? "" : ", ") + std::string(assay::name(one));
    }
    return "runs on " + runs_on + ", not " + std::string(assay::name(target));
  }

  std::vector<Path> paths_;
};

// What the current device runs; Target::host if assay has no code for it.
Target current_target();

}  // namespace assay::kernels

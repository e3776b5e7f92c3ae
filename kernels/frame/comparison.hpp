// SPDX-License-Identifier: Apache-2.0
// What the cases of every operation have in common: operands are made, everybody's result is
// checked, libraries choose their fastest candidate, and then all take turns.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/callable.hpp"
#include "harness/probe.hpp"
#include "harness/state.hpp"
#include "kernels/baselines/baseline.hpp"
#include "kernels/frame/operand_sets.hpp"
#include "kernels/frame/path.hpp"

namespace assay::kernels {

// Each case twice: as it is, the burst figure, and as "<name>/sustained", under load that lasts, in
// the full suite only. The parameter "state" says which.
std::vector<Case> burst_and_sustained(const std::vector<Case>& cases);

// The dense peak of the tensor cores, TFLOP/s at the highest SM clock.
Limit tensor_peak(const State& state, std::string_view element);

// What an operation says of one case. Operands are given as pointers in the order of `operands`.
struct Comparison {
  Work work;  // of one call
  std::vector<Operand> operands;
  Callable<Plan(std::span<void* const>)> plan;  // ours
  // Compares the outputs with the reference: what is wrong, empty if nothing is.
  Callable<std::string(std::span<void* const>)> find_error;
  // Opens a library on the operand sets.
  using Library = Callable<std::unique_ptr<Baseline>(const OperandSets&)>;
  std::vector<Library> libraries;
};

// Measures ours, "assay", and the baselines that can be had; why one cannot becomes a flag.
void compare(State& state, const Comparison& comparison);

// Who takes part beside ours, found and checked. compare() calls it; apart so that it can be tested
// without a GPU.
struct Field {
  std::vector<Contender> baselines;
  std::vector<std::string> flags;
};
struct Referee {
  int sets;                                        // that rotate
  LaunchTimer nanoseconds;                         // times candidates
  Callable<void(const Contender&)> must_be_right;  // throws if its result is wrong
  Callable<void()> pause = {};  // before a round of candidates, where figures are of bursts
};
Field line_up(const std::vector<OpenBaseline>& libraries, const Referee& referee);

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The block-scaled product against cuBLASLt's own mode of the same scales, over layers of models.
// Both take turns on the same inputs, larger than L2; before that, each result is checked against
// float64.
#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/state.hpp"
#include "kernels/frame/comparison.hpp"
#include "kernels/gemm_block_scaled/gemm_block_scaled.hpp"
#include "kernels/gemm_block_scaled/operands.hpp"
#include "kernels/gemm_block_scaled/reference.hpp"
#include "kernels/gemm_block_scaled/shapes.hpp"

namespace assay::kernels {
namespace {

BlockScaledProblem problem_of(const Case& c) {
  return {.m = static_cast<int>(c.i64("m")),
          .n = static_cast<int>(c.i64("n")),
          .k = static_cast<int>(c.i64("k"))};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const BlockScaledShape& shape : block_scaled_shapes()) {
    std::vector<Target> targets =
        block_scaled_paths().targets({.m = shape.m, .n = shape.n, .k = shape.k});
    if (targets.empty()) continue;  // this program was built without
    Params params = {{"type", "e4m3_block128"}, {"m", shape.m}, {"n", shape.n}, {"k", shape.k}};
    if (!shape.model.empty()) {
      params["model"] = std::string(shape.model);
      params["layer"] = std::string(shape.layer);
    }
    all.push_back({.name = fmt::format("e4m3_block128/m{}n{}k{}/nt", shape.m, shape.n, shape.k),
                   .params = std::move(params),
                   .targets = std::move(targets),
                   .suite = shape.suite});
  }
  return burst_and_sustained(all);
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const BlockScaledProblem problem = problem_of(c);
  return block_scaled_paths().choose(problem, target).kernels(problem);
}

void run(State& s) {
  const BlockScaledProblem p = problem_of(s.which());
  const auto find_error = [&](std::span<void* const> set) {
    constexpr std::uint64_t kChecked = 1 << 14;
    const GemmErrors errors =
        check_gemm_block_scaled(p, block_scaled_operands_of(set), kChecked, s.seed(), s.stream());
    return errors.right() ? std::string() : errors.describe();
  };
  const auto open_cublaslt = [&](const OperandSets& sets) {
    std::vector<BlockScaledOperands> operands;
    for (int i = 0; i < sets.count(); ++i) operands.push_back(block_scaled_operands_of(sets[i]));
    return open_block_scaled_cublaslt(p, operands);
  };
  compare(s, {.work = {.flop = 2.0 * p.m * p.n * p.k, .limit = tensor_peak(s, "e4m3")},
              .operands = block_scaled_operands(p),
              .plan =
                  [&](std::span<void* const> set) {
                    return plan_gemm_block_scaled(p, block_scaled_operands_of(set));
                  },
              .find_error = find_error,
              .libraries = {open_cublaslt}});
}

// Made once every path has registered itself.
const Registration registration{[] {
  return Probe{.name = "kernels/gemm_block_scaled",
               .question =
                   "How fast is our fp8 product with a scale for each block, and how does "
                   "it compare with cuBLASLt's?",
               .kind = Kind::kernel,
               .cases = cases(),
               .pace = Pace::power,
               .kernels = kernels,
               .run = run};
}};

}  // namespace
}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The bf16 matrix product against cuBLASLt, over square shapes and shapes of language models. Both
// take turns on the same inputs, larger than L2; before that, each result is checked against
// float64.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/element.hpp"
#include "harness/state.hpp"
#include "kernels/baselines/cublaslt.hpp"
#include "kernels/frame/comparison.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/reference.hpp"
#include "kernels/gemm/shapes.hpp"

namespace assay::kernels {
namespace {

GemmProblem problem_of(const Case& c) {
  return {.m = static_cast<int>(c.i64("m")),
          .n = static_cast<int>(c.i64("n")),
          .k = static_cast<int>(c.i64("k")),
          .type = c.text("type")};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const GemmShape& shape : gemm_shapes()) {
    const GemmProblem p{.m = shape.m, .n = shape.n, .k = shape.k};
    std::vector<Target> targets = gemm_paths().targets(p);
    if (targets.empty()) continue;  // this program was built without
    Params params = {{"type", p.type}, {"m", p.m}, {"n", p.n}, {"k", p.k}};
    if (!shape.model.empty()) {
      params["model"] = std::string(shape.model);
      params["layer"] = std::string(shape.layer);
    }
    all.push_back({.name = fmt::format("{}/m{}n{}k{}/{}", p.type, p.m, p.n, p.k, p.layout),
                   .params = std::move(params),
                   .targets = std::move(targets),
                   .suite = shape.suite});
  }
  return burst_and_sustained(all);
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const GemmProblem problem = problem_of(c);
  return gemm_paths().choose(problem, target).kernels(problem);
}

// In the order of the operands below.
GemmOperands operands_of(std::span<void* const> set) { return {set[0], set[1], set[2]}; }

void run(State& s) {
  const GemmProblem p = problem_of(s.which());
  const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n),
             k = static_cast<std::size_t>(p.k);
  const auto find_error = [&](std::span<void* const> set) {
    constexpr std::uint64_t kChecked = 1 << 16;
    const auto [d, a, b] = operands_of(set);
    const GemmErrors errors =
        check_gemm_bf16_nt(d, a, b, p.m, p.n, p.k, kChecked, s.seed(), s.stream());
    return errors.right() ? std::string() : errors.describe();
  };
  const auto open_cublaslt = [&](const OperandSets& sets) {
    std::vector<CublasLtGemm::Operands> operands;
    for (int i = 0; i < sets.count(); ++i) {
      const auto [d, a, b] = operands_of(sets[i]);
      operands.push_back({d, a, b});
    }
    return std::make_unique<CublasLtGemm>(CublasLtProblem{p.m, p.n, p.k, p.type, p.type},
                                          std::move(operands));
  };
  compare(s, {.work = {.flop = 2.0 * p.m * p.n * p.k, .limit = tensor_peak(s, p.type)},
              .operands = {{.bytes = m * n * static_cast<std::size_t>(element_bits(p.type)) / 8},
                           uniform_bf16(m * k),
                           uniform_bf16(n * k)},
              .plan = [&](std::span<void* const> set) { return plan_gemm(p, operands_of(set)); },
              .find_error = find_error,
              .libraries = {open_cublaslt}});
}

// Made once every path has registered itself.
const Registration registration{[] {
  return Probe{
      .name = "kernels/gemm",
      .question = "How fast is our bf16 matrix product, and how does it compare with cuBLASLt?",
      .kind = Kind::kernel,
      .cases = cases(),
      .pace = Pace::power,
      .kernels = kernels,
      .run = run};
}};

}  // namespace
}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The skinny product against cuBLASLt, which does it in bf16: what packed weights gain is part of
// the comparison.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "harness/machine/dram_limit.hpp"
#include "harness/state.hpp"
#include "kernels/baselines/cublaslt.hpp"
#include "kernels/frame/comparison.hpp"
#include "kernels/skinny/baseline.hpp"
#include "kernels/skinny/operands.hpp"
#include "kernels/skinny/reference.hpp"
#include "kernels/skinny/shapes.hpp"
#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {
namespace {

SkinnyProblem problem_of(const Case& c) {
  return {.m = static_cast<int>(c.i64("m")),
          .n = static_cast<int>(c.i64("n")),
          .k = static_cast<int>(c.i64("k")),
          .weights = skinny_weights(c.text("type"))};
}

// The square has all packings and tokens, and lasting load; of a model's layer, bf16 has all tokens
// and the rest the least, a middling and the greatest number.
std::vector<Case> cases() {
  std::vector<Case> squares, layers;
  for (const SkinnyLayer& layer : skinny_layers())
    for (const SkinnyWeights weights : kSkinnyWeights)
      for (const int m : kSkinnyTokens) {
        const SkinnyProblem p{.m = m, .n = layer.n, .k = layer.k, .weights = weights};
        const bool square = layer.model.empty();
        if (!square && weights != SkinnyWeights::bf16 && m != 1 && m != 16 && m != 64) continue;
        std::vector<Target> targets = skinny_paths().targets(p);
        if (targets.empty()) continue;  // this program was built without
        Params params = {{"type", name(weights)}, {"m", p.m}, {"n", p.n}, {"k", p.k}};
        if (!square) {
          params["model"] = std::string(layer.model);
          params["layer"] = std::string(layer.layer);
        }
        (square ? squares : layers)
            .push_back({.name = fmt::format("{}/m{}n{}k{}", name(weights), p.m, p.n, p.k),
                        .params = std::move(params),
                        .targets = std::move(targets),
                        .suite = m == 1 ? layer.suite : Suite::full});
      }
  std::vector<Case> all = burst_and_sustained(squares);
  for (Case& each : layers) {
    each.params["state"] = "burst";
    all.push_back(std::move(each));
  }
  return all;
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const SkinnyProblem problem = problem_of(c);
  return skinny_paths().choose(problem, target).kernels(problem);
}

void run(State& s) {
  const SkinnyProblem p = problem_of(s.which());
  const std::size_t count =
      static_cast<std::size_t>(p.n) * static_cast<std::size_t>(p.k);  // of weights
  const bool packed = p.weights != SkinnyWeights::bf16;
  std::vector<Operand> operands = skinny_operands(p);
  if (packed) operands.push_back(uniform_bf16(count));  // becomes the same weights in bf16
  const auto find_error = [&](std::span<void* const> set) {
    constexpr std::uint64_t kChecked = 1 << 14;
    const SkinnyErrors errors =
        check_skinny(p, skinny_operands_of(set), kChecked, s.seed(), s.stream());
    return errors.right() ? std::string() : errors.describe();
  };
  const auto open_cublaslt = [&](const OperandSets& sets) {
    std::vector<CublasLtGemm::Operands> each;
    for (int i = 0; i < sets.count(); ++i) {
      if (packed) expand_skinny(p, skinny_operands_of(sets[i]), sets[i][5], s.stream());
      each.push_back({sets[i][0], sets[i][1], packed ? sets[i][5] : sets[i][2]});
    }
    return std::make_unique<CublasLtGemm>(skinny_baseline(p), std::move(each));
  };
  Work work;
  work.bytes = p.bytes();
  work.limit = dram_limit(s.device());
  compare(
      s,
      {.work = work,
       .operands = std::move(operands),
       .plan = [&](std::span<void* const> set) { return plan_skinny(p, skinny_operands_of(set)); },
       .find_error = find_error,
       .libraries = {open_cublaslt}});
}

// Made once every path has registered itself.
const Registration registration{[] {
  return Probe{.name = "kernels/gemv",
               .question =
                   "How near to memory bandwidth is the product of few tokens with a "
                   "layer's weights, plain or packed, and how does it compare with "
                   "cuBLASLt's in bf16?",
               .kind = Kind::kernel,
               .cases = cases(),
               .pace = Pace::dram,
               .kernels = kernels,
               .run = run};
}};

}  // namespace
}  // namespace assay::kernels

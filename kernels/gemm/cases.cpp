// SPDX-License-Identifier: Apache-2.0
// The matrix product against cuBLASLt, over square shapes and shapes of language models. Both take
// turns on the same inputs, larger than L2; before that, each result is checked against float64.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/element.hpp"
#include "harness/error.hpp"
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

// The operands that a problem has, D first, and where each is in a set of them.
class Layout {
 public:
  explicit Layout(const GemmProblem& p) : problem_(p) {
    const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n),
               k = static_cast<std::size_t>(p.k);
    const auto bits = static_cast<std::size_t>(element_bits(p.d_type()));
    operands_ = {{.bytes = m * n * bits / 8}, normal(p.type, m * k), normal(p.b_type(), n * k)};
    if (p.beta != 0) operands_.push_back(normal(p.d_type(), m * n));
    if (p.bias) operands_.push_back(normal(p.d_type(), n));
    if (p.scaling == Scaling::none) return;
    const bool each = p.scaling == Scaling::row;
    operands_.push_back(factors(each ? m : 1));
    operands_.push_back(factors(each ? n : 1));
  }

  const std::vector<Operand>& operands() const { return operands_; }

  GemmOperands of(std::span<void* const> set) const {
    GemmOperands o{set[0], set[1], set[2]};
    std::size_t next = 3;
    if (problem_.beta != 0) o.c = set[next++];
    if (problem_.bias) o.bias = set[next++];
    if (problem_.scaling == Scaling::none) return o;
    o.scale_a = static_cast<const float*>(set[next++]);
    o.scale_b = static_cast<const float*>(set[next]);
    return o;
  }

 private:
  GemmProblem problem_;
  std::vector<Operand> operands_;
};

CublasLtProblem to_cublaslt(const GemmProblem& p) {
  if (p.activation == Activation::silu)
    throw Error(ExitCode::unfit, "cuBLASLt has no SiLU in its epilogue");
  const CublasLtScale scale = p.scaling == Scaling::none     ? CublasLtScale::none
                              : p.scaling == Scaling::tensor ? CublasLtScale::tensor
                                                             : CublasLtScale::row;
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .a = p.type,
          .b = p.b_type(),
          .d = p.d_type(),
          .layout = p.layout,
          .alpha = p.alpha,
          .beta = p.beta,
          .bias = p.bias,
          .gelu = p.activation == Activation::gelu,
          .scale_a = scale,
          .scale_b = scale};
}

void run(State& s) {
  const GemmProblem p = problem_of(s.which());
  const Layout layout(p);
  const auto find_error = [&](std::span<void* const> set) {
    constexpr std::uint64_t kChecked = 1 << 16;
    const GemmErrors errors = check_gemm(p, layout.of(set), kChecked, s.seed(), s.stream());
    return errors.right() ? std::string() : errors.describe();
  };
  const auto open_cublaslt = [&](const OperandSets& sets) {
    std::vector<CublasLtGemm::Operands> operands;
    for (int i = 0; i < sets.count(); ++i) {
      const GemmOperands o = layout.of(sets[i]);
      operands.push_back({o.d, o.a, o.b, o.c, o.bias, o.scale_a, o.scale_b});
    }
    return std::make_unique<CublasLtGemm>(to_cublaslt(p), std::move(operands));
  };
  compare(s, {.work = {.flop = 2.0 * p.m * p.n * p.k, .limit = tensor_peak(s, p.type)},
              .operands = layout.operands(),
              .plan = [&](std::span<void* const> set) { return plan_gemm(p, layout.of(set)); },
              .find_error = find_error,
              .libraries = {open_cublaslt}});
}

// Made once every path has registered itself.
const Registration registration{[] {
  return Probe{.name = "kernels/gemm",
               .question = "How fast is our matrix product, and how does it compare with cuBLASLt?",
               .kind = Kind::kernel,
               .cases = cases(),
               .pace = Pace::power,
               .kernels = kernels,
               .run = run};
}};

}  // namespace
}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The matrix product against cuBLASLt, over square shapes and shapes of language models, in every
// type, layout and epilogue. Both take turns on the same inputs, larger than L2; before that, each
// result is checked against float64.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/state.hpp"
#include "kernels/frame/comparison.hpp"
#include "kernels/gemm/contest.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/shapes.hpp"

namespace assay::kernels {
namespace {

// What beside bf16 nt is measured, on fewer shapes.
struct Form {
  std::string type, type_b, type_d, layout, epilogue;
  Scaling scaling;
  std::vector<std::tuple<int, int, int>> shapes;
  bool quick = false;  // the first shape

  GemmProblem problem(int m, int n, int k) const {
    GemmProblem p{.m = m, .n = n, .k = k, .type = type, .layout = layout};
    p.type_b = type_b;
    p.type_d = type_d;
    p.scaling = scaling;
    return with_epilogue(p, epilogue);
  }
};

const std::vector<Form>& forms() {
  using Shapes = std::vector<std::tuple<int, int, int>>;
  const std::tuple square{4096, 4096, 4096}, large{8192, 8192, 8192}, ragged{1000, 5000, 3000};
  const std::tuple decode{16, 8192, 8192}, batch{512, 8192, 8192}, gate_up{4096, 28672, 4096};
  const Shapes one = {square}, few = {square, large, decode, {128, 7168, 2048}, {777, 8192, 4096}};
  const Shapes fp8 = {large,
                      square,
                      decode,
                      {64, 57344, 8192},
                      {128, 7168, 2048},
                      {256, 4096, 7168},
                      batch,
                      {777, 8192, 4096},
                      {1536, 12288, 5120},
                      gate_up,
                      {8192, 10240, 8192},
                      {4096, 7168, 16384},
                      {4096, 24576, 1536},
                      {1024, 1024, 1024}};
  static const std::vector<Form> all = {
      {"bf16", "bf16", "bf16", "nn", "none", Scaling::none, {square, ragged}},
      {"bf16", "bf16", "bf16", "tn", "none", Scaling::none, one},
      {"bf16", "bf16", "bf16", "tt", "none", Scaling::none, one},
      {"bf16", "bf16", "f32", "nt", "none", Scaling::none, one},
      {"bf16", "bf16", "bf16", "nt", "alpha_beta", Scaling::none, one},
      {"bf16", "bf16", "bf16", "nt", "bias_gelu", Scaling::none, {batch}},
      {"bf16", "bf16", "bf16", "nt", "bias_gelu_tanh", Scaling::none, {batch}},
      {"bf16", "bf16", "bf16", "nt", "bias_silu", Scaling::none, one},
      {"f16", "f16", "f16", "nt", "none", Scaling::none, few},
      {"f16", "f16", "f16", "nn", "none", Scaling::none, one},
      {"f16", "f16", "f16", "tn", "none", Scaling::none, one},
      {"f16", "f16", "f16", "tt", "none", Scaling::none, one},
      {"e4m3", "e4m3", "bf16", "nt", "none", Scaling::tensor, fp8, true},
      {"e4m3", "e4m3", "bf16", "nt", "none", Scaling::row, few},
      {"e4m3", "e4m3", "f32", "nt", "none", Scaling::tensor, one},
      {"e4m3", "e4m3", "bf16", "nt", "bias", Scaling::tensor, one},
      {"e4m3", "e5m2", "bf16", "nt", "none", Scaling::tensor, {square, batch}},
      {"e5m2", "e4m3", "bf16", "nt", "none", Scaling::tensor, one},
      {"e5m2", "e5m2", "bf16", "nt", "none", Scaling::tensor, one},
  };
  return all;
}

// "e4m3/m64n64k64/nt/row_bias": what differs from the plain problem of its type.
std::string name_of(const GemmProblem& p) {
  const std::string types = p.type + (p.b_type() == p.type ? "" : "_" + p.b_type());
  const bool fp8 = p.type[0] == 'e';
  std::string variant;
  const auto add = [&](const std::string& word) {
    variant += (variant.empty() ? "/" : "_") + word;
  };
  if (p.scaling == Scaling::row) add("row");
  if (p.d_type() != (fp8 ? "bf16" : p.type)) add(p.d_type());
  if (const std::string epilogue = epilogue_of(p); epilogue != "none") add(epilogue);
  return fmt::format("{}/m{}n{}k{}/{}{}", types, p.m, p.n, p.k, p.layout, variant);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const GemmProblem& p, Suite suite) {
    std::vector<Target> targets = gemm_paths().targets(p);
    if (targets.empty()) return;  // this program was built without
    Params params = params_of(p);
    const auto shapes = gemm_shapes();
    const auto shape = std::ranges::find_if(
        shapes, [&](const GemmShape& s) { return s.m == p.m && s.n == p.n && s.k == p.k; });
    if (shape != shapes.end() && !shape->model.empty()) {
      params["model"] = std::string(shape->model);
      params["layer"] = std::string(shape->layer);
    }
    all.push_back({.name = name_of(p),
                   .params = std::move(params),
                   .targets = std::move(targets),
                   .suite = suite});
  };
  for (const GemmShape& shape : gemm_shapes())
    if (shape.set != GemmSet::survey)
      add({.m = shape.m, .n = shape.n, .k = shape.k},
          shape.set == GemmSet::quick ? Suite::quick : Suite::full);
  for (const Form& form : forms())
    for (const auto& shape : form.shapes) {
      const auto [m, n, k] = shape;
      const bool first = shape == form.shapes.front();
      add(form.problem(m, n, k), form.quick && first ? Suite::quick : Suite::full);
    }
  return burst_and_sustained(all);
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const GemmProblem problem = problem_of(c);
  return gemm_paths().choose(problem, target).kernels(problem);
}

void run(State& s) {
  const GemmProblem p = problem_of(s.which());
  const GemmOperandLayout layout(p);
  const auto open = [&](const OperandSets& sets) {
    std::vector<GemmOperands> operands;
    for (int i = 0; i < sets.count(); ++i) operands.push_back(layout.of(sets[i]));
    return open_cublaslt(p, operands);
  };
  compare(s, {.work = {.flop = 2.0 * p.m * p.n * p.k, .limit = tensor_peak(s, p.type)},
              .operands = layout.operands(),
              .plan = [&](std::span<void* const> set) { return plan_gemm(p, layout.of(set)); },
              .find_error =
                  [&](std::span<void* const> set) {
                    return find_error(p, layout.of(set), s.seed(), s.stream());
                  },
              .libraries = {open}});
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

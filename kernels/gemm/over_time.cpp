// SPDX-License-Identifier: Apache-2.0
// Clock and power while our matrix product runs over and over: from idle into the load and out of
// it again. What is sustained is measured once the power limit has acted; this shows how it gets
// there.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/measure/load_trace.hpp"
#include "harness/state.hpp"
#include "kernels/frame/operand_sets.hpp"
#include "kernels/gemm/contest.hpp"
#include "kernels/gemm/gemm.hpp"

namespace assay::kernels {
namespace {

GemmProblem square(const std::string& type) {
  GemmProblem p{.m = 8192, .n = 8192, .k = 8192, .type = type};
  if (type == "e4m3") {
    p.type_d = "bf16";
    p.scaling = Scaling::tensor;
  }
  return p;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string type : {"bf16", "e4m3"}) {
    const GemmProblem p = square(type);
    std::vector<Target> targets = gemm_paths().targets(p);
    if (targets.empty()) continue;  // this program was built without
    all.push_back({.name = fmt::format("{}/m{}n{}k{}/{}", type, p.m, p.n, p.k, p.layout),
                   .params = params_of(p),
                   .targets = std::move(targets),
                   .suite = Suite::full});
  }
  return all;
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const GemmProblem problem = problem_of(c);
  return gemm_paths().choose(problem, target).kernels(problem);
}

void run(State& s) {
  const GemmProblem p = problem_of(s.which());
  const GemmOperandLayout layout(p);
  const OperandSets sets(s, layout.operands());
  std::vector<Plan> plans;
  for (int set = 0; set < sets.count(); ++set) plans.push_back(plan_gemm(p, layout.of(sets[set])));
  s.set_param("variant", plans.front().variant);
  sets.poison_outputs(0);
  plans.front().run(s.stream());
  const std::string error = find_error(p, layout.of(sets[0]), s.seed(), s.stream());
  s.require(error.empty(), error);
  std::size_t turn = 0;
  trace_load(s, [&](cudaStream_t stream) { plans[turn++ % plans.size()].run(stream); });
}

// Made once every path has registered itself.
const Registration registration{[] {
  return Probe{.name = "kernels/gemm_over_time",
               .question =
                   "What do clock and power do when our matrix product begins, lasts and "
                   "ends?",
               .metrics = load_trace_notes(),
               .kind = Kind::kernel,
               .cases = cases(),
               .pace = Pace::power,
               .kernels = kernels,
               .run = run};
}};

}  // namespace
}  // namespace assay::kernels

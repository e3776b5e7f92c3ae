// SPDX-License-Identifier: Apache-2.0
// The matrix product on Hopper in the host model, on shapes that are no multiple of its tiles.
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/gemm/model_operands.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"

namespace assay::kernels {
namespace {

ModelResult run(const GemmProblem& problem, const GemmChoiceSm90& choice, model::Gpu& gpu,
                const model::Options& options) {
  const ModelOperands operands(gpu, problem, options.seed);
  GemmLaunchSm90 l = launch_of_gemm_sm90(problem, operands.operands(), choice);
  if (l.workspace_bytes > 0) {
    const model::Address at = gpu.allocate("workspace", l.workspace_bytes);
    gpu.write(at, std::vector<std::uint8_t>(kFlagBytesSm90));
    give_workspace_sm90(l, reinterpret_cast<void*>(at));
  }
  const auto p = model_map(l.p), q = model_map(l.q), d = model_map(l.d);
  model::Arguments arguments;
  arguments.push(&p, 128, 128).push(&q, 128, 128).push(&d, 128, 128).push(l.args);
  const GemmVariantSm90& v = *l.variant;
  ModelResult result;
  result.outcome =
      gpu.launch(gpu.kernel(v.linker_name),
                 {.grid = {l.grid, 1, 1},
                  .block = {v.threads, 1, 1},
                  .dynamic_shared_bytes = static_cast<std::uint32_t>(v.shared_bytes)},
                 arguments, options);
  if (result.outcome.finished) operands.compare(gpu, result);
  return result;
}

const GemmVariantSm90& variant(const GemmProblem& problem, const std::string& name) {
  for (const GemmVariantSm90* v : fitting_variants_sm90(problem))
    if (v->name == name) return *v;
  throw Error(ExitCode::usage, problem.text() + ": no form " + name);
}

ModelCase model_case(const GemmProblem& problem, const GemmChoiceSm90& choice,
                     const std::string& suffix) {
  return {.name = "kernels/gemm/" + problem.type + "/m" + std::to_string(problem.m) + "n" +
                  std::to_string(problem.n) + "k" + std::to_string(problem.k) + "/" +
                  problem.layout + suffix,
          .kernel = choice.variant->linker_name,
          .run = [problem, choice](model::Gpu& gpu, const model::Options& options) {
            return run(problem, choice, gpu, options);
          }};
}

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  for (const ModelShape& s : awkward_shapes()) {
    const GemmProblem problem{.m = s.m, .n = s.n, .k = s.k};
    // Two workers, so that the ring goes on from one tile to the next.
    const GemmVariantSm90& v = variant(problem, "128x256_c2x1_s4");
    cases.push_back(model_case(problem, {.variant = &v, .workers = 2}, ""));
    for (const GemmVariantSm90* each : fitting_variants_sm90(problem)) {
      const int k_steps = divide_up(s.k, each->tile_k);
      if (each == &v || k_steps < 2) continue;
      cases.push_back(model_case(problem, {.variant = each, .stream_tiles = 1, .workers = 2},
                                 "/" + each->name + "_stream"));
    }
  }
  // Rings that go round more than twice in a tile, and three tiles for each worker.
  const GemmProblem deep{.m = 256, .n = 520, .k = 1352};
  for (const GemmVariantSm90* v : fitting_variants_sm90(deep)) {
    if (v->pingpong) cases.push_back(model_case(deep, {.variant = v, .workers = 1}, "/" + v->name));
  }
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The plain matrix product in the host model: every type and layout, every part of the epilogue, on
// shapes that are no multiple of its tiles.
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/gemm/mma_sync/plan.hpp"
#include "kernels/gemm/model_problem.hpp"

namespace assay::kernels {
namespace {

ModelResult run(const GemmProblem& p, bool small, int parts, model::Gpu& gpu,
                const model::Options& options) {
  const ModelProblem problem(gpu, p, options.seed);
  GemmMmaSyncLaunch l = launch_mma_sync(p, problem.operands(), small, parts);
  if (l.parts > 1)
    l.split.partial = std::bit_cast<float*>(gpu.allocate("parts of the sum", l.partial_bytes()));
  model::Arguments arguments;
  arguments.push(l.a)
      .push(l.b)
      .push(l.finish)
      .push(l.split)
      .push(l.m)
      .push(l.n)
      .push(l.stages)
      .push(l.raster);
  ModelResult result;
  result.outcome =
      gpu.launch(gpu.kernel(l.variant->kernel_part),
                 {.grid = {l.raster.count(), l.parts, 1},
                  .block = {l.variant->threads, 1, 1},
                  .dynamic_shared_bytes = static_cast<std::uint32_t>(l.variant->shared_bytes)},
                 arguments, options);
  if (result.outcome.finished && l.parts > 1) {
    model::Arguments of_sum;
    of_sum.push(l.split.partial).push(l.parts).push(l.finish).push(l.m).push(l.n);
    const std::vector<model::Finding> before = std::move(result.outcome.findings);
    result.outcome = gpu.launch(gpu.kernel(l.variant->sum_part),
                                {.grid = {1, 8, 1}, .block = {32, 1, 1}}, of_sum, options);
    result.outcome.findings.insert(result.outcome.findings.begin(), before.begin(), before.end());
  }
  if (result.outcome.finished) problem.compare(gpu, result);
  return result;
}

// What the epilogue does, by turns.
void dress(GemmProblem& p, std::size_t turn) {
  const bool fp8 = p.type[0] == 'e';
  const char* const types[] = {fp8 ? "bf16" : "", "f32", fp8 ? "f16" : ""};
  p.type_d = types[turn % 3];
  if (turn % 2 == 1) {
    p.alpha = 0.75f;
    p.beta = -1.5f;
  }
  p.bias = turn % 4 >= 2;
  p.activation = static_cast<Activation>(turn / 2 % 4);
  if (fp8) p.scaling = static_cast<Scaling>(turn / 3 % 3);
}

std::vector<ModelCase> cases() {
  struct Types {
    const char *a, *b;
  };
  struct Size {
    int m, n, k;
  };
  std::vector<ModelCase> all;
  std::size_t turn = 0;
  const auto add = [&](const Types& types, const char* layout, Size size, int parts = 1) {
    const bool narrow = types.a[0] == 'e';
    if (narrow) size = {size.m, (size.n + 15) / 16 * 16, (size.k + 15) / 16 * 16};
    if (layout[0] == 't') size.m = (size.m + 7) / 8 * 8;
    for (const bool small : {true, false}) {
      GemmProblem p{.m = size.m, .n = size.n, .k = size.k, .type = types.a, .layout = layout};
      if (std::string(types.a) != types.b) p.type_b = types.b;
      dress(p, turn++);
      const GemmVariantMmaSync& v = gemm_mma_sync_variant(p.type, p.b_type(), layout, small);
      const std::string type = p.type + (p.type_b.empty() ? "" : "_" + p.type_b);
      std::vector<std::string> launched = {v.kernel_part};
      if (parts > 1) launched.push_back(v.sum_part);
      all.push_back({.name = "kernels/gemm/mma_sync/" + type + "/m" + std::to_string(p.m) + "n" +
                             std::to_string(p.n) + "k" + std::to_string(p.k) + "/" + layout + "/" +
                             v.name + (parts > 1 ? "_k" + std::to_string(parts) : ""),
                     .kernels = launched,
                     .run = [p, small, parts](model::Gpu& gpu, const model::Options& options) {
                       return run(p, small, parts, gpu, options);
                     }});
    }
  };
  for (const Size& size : {Size{1, 8, 8}, {65, 72, 136}, {130, 72, 72}}) {
    for (const char* type : {"bf16", "f16"})
      for (const char* layout : {"nt", "nn", "tn", "tt"}) add({type, type}, layout, size);
    for (const Types& types :
         {Types{"e4m3", "e4m3"}, {"e4m3", "e5m2"}, {"e5m2", "e4m3"}, {"e5m2", "e5m2"}})
      add(types, "nt", size);
  }
  // The sum in parts, of which the last is shorter.
  add({"bf16", "bf16"}, "nt", {17, 72, 264}, 4);
  add({"f16", "f16"}, "tn", {17, 72, 264}, 2);
  add({"e4m3", "e5m2"}, "nt", {17, 80, 464}, 3);
  return all;
}

const ModelCase::Registration registration{cases()};

}  // namespace
}  // namespace assay::kernels

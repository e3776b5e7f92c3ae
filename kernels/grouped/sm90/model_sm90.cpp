// SPDX-License-Identifier: Apache-2.0
// The grouped products on Hopper in the host model: uneven and empty groups, and shapes that are no
// multiple of a tile.
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/workers/model_workspace.hpp"
#include "kernels/gemm/model_map.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/grouped/model_groups.hpp"
#include "kernels/grouped/sm90/plan_sm90.hpp"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr int kClusters = 2;  // of a launch
const WorkerPlaces kExchanged({1, 0});

// Fewer clusters than tiles, so that the ring goes on from one tile to the next.
template <class Variant>
ModelResult launch(const Variant& v, const std::string& symbol,
                   const GroupedModelOperands& operands, const model::Arguments& arguments,
                   const ModelWorkspace& workspace, model::Gpu& gpu,
                   const model::Options& options) {
  const GroupedOperands at = operands.operands();
  written_by_a_grid_before(gpu, {at.a, at.b, at.sizes, at.d});
  ModelResult result;
  result.outcome = gpu.launch(gpu.kernel(symbol),
                              {.grid = {kClusters * v.cluster_size(), 1, 1},
                               .block = {v.threads, 1, 1},
                               .dynamic_shared_bytes = static_cast<std::uint32_t>(v.shared_bytes),
                               .early = true},
                              arguments, options);
  if (result.outcome.finished) {
    operands.compare(gpu, result);
    workspace.compare(result);
  }
  return result;
}

ModelResult run(const GemmVariantSm90& v, const GroupedModelCase& c, model::Gpu& gpu,
                const model::Options& options) {
  const GroupedModelOperands operands(gpu, c, options.seed);
  GroupedLaunchSm90 l = launch_of_grouped_sm90(c.problem, operands.operands(), v);
  l.groups.band = 2;
  l.groups.places = kExchanged;
  const ModelWorkspace workspace(gpu);
  l.groups.meeting = workspace.meeting(kClusters);
  const auto p = model_map(l.p), q = model_map(l.q), d = model_map(l.d);
  model::Arguments arguments;
  arguments.push(&p, 128, 128).push(&q, 128, 128).push(&d, 128, 128).push(l.groups);
  return launch(v, v.linker_name, operands, arguments, workspace, gpu, options);
}

ModelResult run(const GroupedE4m3VariantSm90& v, const GroupedModelCase& c, model::Gpu& gpu,
                const model::Options& options) {
  const GroupedModelOperands operands(gpu, c, options.seed);
  const GroupedProblem& p = c.problem;
  const GroupedOperands at = operands.operands();
  const ModelWorkspace workspace(gpu);
  const GroupsSm90 groups{.sizes = at.sizes,
                          .groups = p.groups,
                          .masked = p.grouping == Grouping::masked,
                          .rows = p.rows,
                          .n = p.n,
                          .k_blocks = blocks_of_scales(p.k),
                          .n_blocks = blocks_of_scales(p.n),
                          .band = 2,
                          .places = kExchanged,
                          .meeting = workspace.meeting(kClusters),
                          .d = static_cast<__nv_bfloat16*>(at.d)};
  const model::TensorMapBytes maps[] = {
      operands.map_a(v.tile_m / v.cluster_n), operands.map_b(v.tile_n / v.cluster_m),
      operands.map_scale_a(v.tile_m + 4), operands.map_scale_b(divide_up(v.tile_n, 128)),
      operands.map_d(16)};
  model::Arguments arguments;
  arguments.push(&maps, sizeof maps, 128).push(groups).push(groups.k_blocks);
  return launch(v, v.symbol, operands, arguments, workspace, gpu, options);
}

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  const auto add = [&](const GroupedModelCase& c, const auto& v, const std::string& symbol) {
    cases.push_back({.name = "kernels/grouped/" + c.name() + "/" + v.name,
                     .kernels = {symbol},
                     .run = [&v, c](model::Gpu& gpu, const model::Options& options) {
                       return run(v, c, gpu, options);
                     }});
  };
  for (const GroupedModelCase& c : grouped_model_cases()) {
    if (c.problem.type == "bf16") {
      for (const auto& v : grouped_bf16_variants_sm90(c.problem.grouping)) add(c, v, v.linker_name);
    } else {
      for (const auto& v : grouped_e4m3_variants_sm90()) add(c, v, v.symbol);
    }
  }
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels

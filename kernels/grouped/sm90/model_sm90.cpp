// SPDX-License-Identifier: Apache-2.0
// The grouped products on Hopper in the host model: uneven and empty groups, and shapes that are no
// multiple of a tile.
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/frame/workers/model_workspace.hpp"
#include "kernels/gemm/model_map.hpp"
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

ModelResult run(const BlockScaledVariantSm90& v, const GroupedModelCase& c, model::Gpu& gpu,
                const model::Options& options) {
  const GroupedModelOperands operands(gpu, c, options.seed);
  GroupedE4m3LaunchSm90 l = launch_of_grouped_e4m3_sm90(c.problem, operands.operands(), v);
  const ModelWorkspace workspace(gpu);
  l.groups.band = 2;
  l.groups.places = kExchanged;
  l.groups.meeting = workspace.meeting(kClusters);
  const BlockScaledMaps maps = l.maps.encoded(model_map);
  model::Arguments arguments;
  arguments.push(&maps, sizeof maps, 128).push(l.groups).push(l.groups.k_blocks);
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

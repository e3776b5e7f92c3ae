// SPDX-License-Identifier: Apache-2.0
// The block-scaled product on Hopper in the host model, on shapes that are no multiple of its
// tiles.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/frame/workers/model_workspace.hpp"
#include "kernels/gemm/model_map.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm/sm90/parts_sm90.hpp"
#include "kernels/gemm_block_scaled/model_operands.hpp"
#include "kernels/gemm_block_scaled/sm90/plan_sm90.hpp"

namespace assay::kernels {
namespace {

// Of each tile in `parts`; 1: whole.
ModelResult run(const BlockScaledVariantSm90& v, const BlockScaledModelShape& s, int parts,
                model::Gpu& gpu, const model::Options& options) {
  const BlockScaledModelOperands operands(gpu, s, options.seed);
  const auto at = operands.addresses();
  const auto pointer = [](model::Address a) { return std::bit_cast<void*>(a); };
  const auto floats = [](model::Address a) { return std::bit_cast<const float*>(a); };
  const BlockScaledLaunchSm90 l = launch_of_block_scaled_sm90(
      {s.m, s.n, s.k},
      {pointer(at.d), pointer(at.a), pointer(at.b), floats(at.scale_a), floats(at.scale_b)}, v, 8);
  const BlockScaledMaps maps = l.maps.encoded(model_map);
  const Raster& raster = l.product.raster;
  // Of whole tiles fewer clusters, so that the ring goes on from one tile to the next.
  const int clusters = parts > 1 ? raster.count() * parts : std::min(raster.count(), 2);
  std::vector<int> backwards;
  for (int i = 0; i < clusters; ++i) backwards.push_back(clusters - 1 - i);
  const int grid = clusters * v.cluster_size();
  const ModelWorkspace workspace(gpu, bytes_of_partials_sm90(v, grid));
  DenseBlockScaledSm90 product = l.product;
  product.edge_a = model_map(l.edge_a);
  product.edge_b = model_map(l.edge_b);
  product.places = WorkerPlaces(backwards);
  if (parts == 1) product.meeting = workspace.meeting(clusters);
  BlockScaledPartsSm90 split = parts_of_launch_sm90(product, l.k_blocks, parts);
  split.partials = partials_sm90(workspace.pointer());
  model::Arguments arguments;
  arguments.push(&maps, sizeof maps, 128);
  if (parts > 1) {
    arguments.push(&split, sizeof split, 128);
  } else {
    arguments.push(&product, sizeof product, 128);
  }
  arguments.push(l.k_blocks);
  written_by_a_grid_before(
      gpu, {pointer(at.a), pointer(at.b), pointer(at.scale_a), pointer(at.scale_b)});
  ModelResult result;
  result.outcome = gpu.launch(gpu.kernel(parts > 1 ? v.parts.symbol : v.symbol),
                              {.grid = {grid, 1, 1},
                               .block = {v.threads, 1, 1},
                               .dynamic_shared_bytes = static_cast<std::uint32_t>(v.shared_bytes),
                               .early = true},
                              arguments, options);
  if (parts > 1 && result.outcome.finished && result.outcome.findings.empty()) {
    ReduceArgumentsSm90 reduce =
        reduce_of_sm90(v, PreparedRaster(raster), parts, s.m, s.n, OutputType::bf16, pointer(at.d));
    reduce.partials = split.partials;
    model::Arguments sums;
    sums.push(reduce);
    result.outcome = gpu.launch(gpu.kernel(v.reduce.symbol),
                                {.grid = {reduce_ctas_sm90(reduce), 1, 1},
                                 .block = {reduce_threads_sm90(reduce), 1, 1},
                                 .early = true},
                                sums, options);
  }
  if (result.outcome.finished) {
    operands.compare(gpu, result);
    workspace.compare(result);
  }
  return result;
}

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  const auto add = [&](const BlockScaledVariantSm90& v, const BlockScaledModelShape& s, int parts) {
    const std::string name =
        "kernels/gemm_block_scaled/e4m3_block128/" + s.name() + "/nt/" + v.name;
    std::vector<std::string> kernels = {v.symbol};
    if (parts > 1) kernels = {v.parts.symbol, v.reduce.symbol};
    cases.push_back({.name = parts > 1 ? name + "_split" : name,
                     .kernels = kernels,
                     .run = [&v, s, parts](model::Gpu& gpu, const model::Options& options) {
                       return run(v, s, parts, gpu, options);
                     }});
  };
  for (const BlockScaledVariantSm90& v : block_scaled_variants_sm90()) {
    for (const BlockScaledModelShape& s : awkward_block_scaled_shapes()) add(v, s, 1);
    // Parts that differ, of which the last ends within a block.
    if (v.parts.kernel != nullptr) add(v, {.m = 300, .n = 264, .k = 1232}, 3);
  }
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels

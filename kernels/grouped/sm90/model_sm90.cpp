// SPDX-License-Identifier: Apache-2.0
// The grouped products on Hopper in the host model: uneven and empty groups, and shapes that are no
// multiple of a tile.
#include <cstdint>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/grouped/model_groups.hpp"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

// As kernels/grouped/sm90/groups_sm90.hpp has it, without CUDA's types.
struct Groups {
  model::Address sizes;
  int groups, masked, rows, m, n, k_blocks, n_blocks, band;
  model::Address d;
};

ModelResult run(const GroupedVariantSm90& v, const GroupedModelCase& c, model::Gpu& gpu,
                const model::Options& options) {
  const GroupedModelOperands operands(gpu, c, options.seed);
  const GroupedProblem& p = c.problem;
  const Groups groups{.sizes = operands.sizes(),
                      .groups = p.groups,
                      .masked = p.grouping == Grouping::masked,
                      .rows = p.rows,
                      .m = p.k,
                      .n = p.n,
                      .k_blocks = (p.k + 127) / 128,
                      .n_blocks = (p.n + 127) / 128,
                      .band = 2,
                      .d = operands.d()};
  model::Arguments arguments;
  const bool gradient = p.grouping == Grouping::gradient;
  const auto a = operands.map_a(gradient ? v.tile_k : v.tile_m / v.cluster_n),
             b = operands.map_b(gradient ? v.tile_k : v.tile_n / v.cluster_m);
  if (p.type == "bf16") {
    const model::TensorMapBytes maps[] = {a, b, operands.map_d(16)};
    arguments.push(&maps, sizeof maps, 128);
  } else {
    const model::TensorMapBytes maps[] = {a, b, operands.map_scale_a(v.tile_m + 4),
                                          operands.map_scale_b(v.tile_n / 128), operands.map_d(16)};
    arguments.push(&maps, sizeof maps, 128);
  }
  arguments.push(groups);
  if (!gradient) arguments.push((p.k + v.tile_k - 1) / v.tile_k);
  ModelResult result;
  // Fewer clusters than tiles, so that the ring goes on from one tile to the next.
  result.outcome = gpu.launch(gpu.kernel(v.symbol),
                              {.grid = {2 * v.cluster_size(), 1, 1},
                               .block = {v.threads, 1, 1},
                               .dynamic_shared_bytes = static_cast<std::uint32_t>(v.shared_bytes)},
                              arguments, options);
  if (result.outcome.finished) operands.compare(gpu, result);
  return result;
}

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  for (const GroupedModelCase& c : grouped_model_cases())
    for (const GroupedVariantSm90& v : grouped_variants_sm90(c.problem))
      cases.push_back({.name = "kernels/grouped/" + c.name() + "/" + v.name,
                       .kernel = v.symbol,
                       .run = [&v, c](model::Gpu& gpu, const model::Options& options) {
                         return run(v, c, gpu, options);
                       }});
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels

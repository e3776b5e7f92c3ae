// SPDX-License-Identifier: Apache-2.0
// The block-scaled product on Hopper in the host model, on shapes that are no multiple of its
// tiles.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/workers/model_workspace.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm_block_scaled/model_operands.hpp"
#include "kernels/gemm_block_scaled/sm90/dense_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

ModelResult run(const BlockScaledVariantSm90& v, const BlockScaledModelShape& s, model::Gpu& gpu,
                const model::Options& options) {
  const BlockScaledModelOperands operands(gpu, s, options.seed);
  struct {
    model::TensorMapBytes a, b, scale_a, scale_b, d;
  } const maps{operands.map_a(v.tile_m / v.cluster_n), operands.map_b(v.tile_n / v.cluster_m),
               operands.map_scale_a(v.scale_rows), operands.map_scale_b(v.scale_blocks),
               operands.map_d(16)};
  static_assert(sizeof maps == 5 * 128);
  const Raster raster{.rows = divide_up(s.m, v.tile_m * v.cluster_m),
                      .columns = divide_up(s.n, v.tile_n * v.cluster_n),
                      .band = 8};
  // Fewer clusters than tiles, so that the ring goes on from one tile to the next.
  const int clusters = std::min(raster.count(), 2);
  const WorkerPlaces places = clusters == 2 ? WorkerPlaces({1, 0}) : WorkerPlaces();
  const ModelWorkspace workspace(gpu);
  model::Arguments arguments;
  // DenseBlockScaledSm90, with the model's maps.
  const auto cut = [](int extent, int share) {
    return extent % share == 0 ? share : extent % share;
  };
  struct alignas(128) {
    model::TensorMapBytes edge_a, edge_b;
    Raster raster;
    WorkerPlaces places;
    StepMeeting meeting;
    int m, n;
  } const product{operands.map_a(cut(s.m, v.tile_m / v.cluster_n)),
                  operands.map_b(cut(s.n, v.tile_n / v.cluster_m)),
                  raster,
                  places,
                  workspace.meeting(clusters),
                  s.m,
                  s.n};
  static_assert(sizeof product == sizeof(DenseBlockScaledSm90));
  arguments.push(&maps, sizeof maps, 128)
      .push(&product, sizeof product, 128)
      .push(divide_up(s.k, v.tile_k));
  const auto at = operands.addresses();
  const auto pointer = [](model::Address a) { return std::bit_cast<const void*>(a); };
  written_by_a_grid_before(
      gpu, {pointer(at.a), pointer(at.b), pointer(at.scale_a), pointer(at.scale_b)});
  ModelResult result;
  result.outcome = gpu.launch(gpu.kernel(v.symbol),
                              {.grid = {clusters * v.cluster_size(), 1, 1},
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

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  for (const BlockScaledVariantSm90& v : block_scaled_variants_sm90())
    for (const BlockScaledModelShape& s : awkward_block_scaled_shapes())
      cases.push_back(
          {.name = "kernels/gemm_block_scaled/e4m3_block128/" + s.name() + "/nt/" + v.name,
           .kernels = {v.symbol},
           .run = [&v, s](model::Gpu& gpu, const model::Options& options) {
             return run(v, s, gpu, options);
           }});
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels

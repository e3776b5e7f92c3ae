// SPDX-License-Identifier: Apache-2.0
// The bf16 matrix product on tcgen05 in the host model, on shapes that are no multiple of its
// tiles. Model, not silicon.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/gemm/model_operands.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm/sm100/variant_sm100.hpp"

namespace assay::kernels {
namespace {

ModelResult run(const GemmVariantSm100& v, const ModelShape& s, model::Gpu& gpu,
                const model::Options& options) {
  const ModelOperands operands(gpu, s, options.seed);
  const auto map_a = operands.map_a(v.box_a, v.tile_k), map_b = operands.map_b(v.box_b, v.tile_k);
  const Raster raster{
      .rows = divide_up(s.m, v.tile_m), .columns = divide_up(s.n, v.tile_n), .band = 8};
  model::Arguments arguments;
  arguments.push(&map_a, 128, 128).push(&map_b, 128, 128).push(operands.d());
  arguments.push(raster).push(divide_up(s.k, v.tile_k)).push(s.m).push(s.n);
  // Fewer CTAs than tiles, so that the rings go on from one tile to the next.
  const int pairs = std::clamp(raster.count() / 3, 1, 2);
  ModelResult result;
  result.outcome = gpu.launch(gpu.kernel(v.symbol),
                              {.grid = {pairs * v.ctas, 1, 1},
                               .block = {v.threads, 1, 1},
                               .dynamic_shared_bytes = static_cast<std::uint32_t>(v.shared_bytes)},
                              arguments, options);
  if (result.outcome.finished) operands.compare(gpu, result);
  return result;
}

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  // Three tiles for each of two pairs: the third waits for the first one's sums to be taken.
  std::vector<ModelShape> shapes = awkward_shapes();
  shapes.push_back({520, 264, 72});
  for (const GemmVariantSm100& v : gemm_bf16_nt_variants_sm100())
    for (const ModelShape& s : shapes)
      cases.push_back({.name = "kernels/gemm/tcgen05/bf16/" + s.name() + "/" + v.name,
                       .kernels = {v.symbol},
                       .run = [&v, s](model::Gpu& gpu, const model::Options& options) {
                         return run(v, s, gpu, options);
                       }});
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels

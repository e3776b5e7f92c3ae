// SPDX-License-Identifier: Apache-2.0
// The bf16 matrix product on Hopper in the host model, on shapes that are no multiple of its tiles.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/gemm/model_operands.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

int divide_up(int a, int b) { return (a + b - 1) / b; }

ModelResult run(const ModelShape& s, model::Gpu& gpu, const model::Options& options) {
  const GemmVariantSm90& v = gemm_bf16_nt_variant_sm90();
  const ModelOperands operands(gpu, s, options.seed);
  const auto map_a = operands.map_a(v.tile_m / v.cluster_n, v.tile_k);
  const auto map_b = operands.map_b(v.tile_n / v.cluster_m, v.tile_k);
  const auto map_d = operands.map_d(16, 64);
  const Raster raster{.rows = divide_up(s.m, v.tile_m * v.cluster_m),
                      .columns = divide_up(s.n, v.tile_n * v.cluster_n),
                      .band = 8};
  model::Arguments arguments;
  arguments.push(&map_a, 128, 128).push(&map_b, 128, 128).push(&map_d, 128, 128);
  arguments.push(raster).push(divide_up(s.k, v.tile_k));
  // Fewer clusters than tiles, so that the ring goes on from one tile to the next.
  const int clusters = std::min(raster.count(), 2);
  ModelResult result;
  result.outcome = gpu.launch(gpu.kernel("gemm_bf16_nt_sm90"),
                              {.grid = {clusters * v.cluster_size(), 1, 1},
                               .block = {v.threads, 1, 1},
                               .dynamic_shared_bytes = static_cast<std::uint32_t>(v.shared_bytes)},
                              arguments, options);
  if (result.outcome.finished) operands.compare(gpu, result);
  return result;
}

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  for (const ModelShape& s : awkward_shapes())
    cases.push_back({.name = "kernels/gemm/bf16/" + s.name() + "/nt",
                     .kernel = "gemm_bf16_nt_sm90",
                     .run = [s](model::Gpu& gpu, const model::Options& options) {
                       return run(s, gpu, options);
                     }});
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels

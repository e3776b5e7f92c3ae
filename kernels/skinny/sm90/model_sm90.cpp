// SPDX-License-Identifier: Apache-2.0
// The skinny product on Hopper in the host model: all forms, on shapes that are no multiple of
// anything, in clusters and in several passes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/gemm/model_map.hpp"
#include "kernels/skinny/model_operands.hpp"
#include "kernels/skinny/sm90/arrange_sm90.hpp"
#include "kernels/skinny/sm90/variants_sm90.hpp"

namespace assay::kernels {
namespace {

struct Shape {
  int m, n, k;
  int clusters, cluster;  // CTAs of one
};

ModelResult run(const SkinnyVariantSm90& v, const Shape& s, model::Gpu& gpu,
                const model::Options& options) {
  const SkinnyProblem p{s.m, s.n, s.k, v.weights};
  const SkinnyModelOperands operands(gpu, p, options.seed);
  SkinnyLayoutSm90 l = arrange_sm90(v, s.m, s.n, s.k, s.clusters, s.cluster);
  SkinnyArgumentsSm90& a = l.arguments;
  const auto pointer = [](auto*& to, model::Address at) {
    to = std::bit_cast<std::remove_reference_t<decltype(to)>>(at);
  };
  pointer(a.d, operands.d());
  pointer(a.row_scales, operands.scales());
  pointer(a.scale, operands.scale());
  const auto at = [](model::Address address) { return std::bit_cast<void*>(address); };
  const SkinnyMapShapesSm90 shapes = map_shapes_sm90(
      v, l, p, {.x = at(operands.x()), .w = at(operands.w()), .scales = at(operands.scales())});
  struct {
    CUtensorMap weights, scales = {}, tokens;
  } maps{.weights = model_map(shapes.weights), .tokens = model_map(shapes.tokens)};
  if (v.scale_width > 0) maps.scales = model_map(shapes.scales);
  static_assert(sizeof maps == sizeof(SkinnyMapsSm90));

  written_by_a_grid_before(
      gpu, {at(operands.x()), at(operands.w()), at(operands.scales()), at(operands.scale())});
  ModelResult result;
  model::Arguments arguments;
  arguments.push(&maps, sizeof maps, 64).push(a);
  model::Shape shape{.grid = {l.grid, 1, 1},
                     .block = {v.threads, 1, 1},
                     .dynamic_shared_bytes = static_cast<std::uint32_t>(v.shared_bytes),
                     .early = true};
  if (s.cluster > 1) shape.cluster = {s.cluster, 1, 1};
  result.outcome = gpu.launch(gpu.kernel(v.symbol()), shape, arguments, options);
  if (result.outcome.finished) operands.compare(gpu, result);
  return result;
}

// k ends within a line and a stage, rows within an eight; rings go round more than once.
std::vector<Shape> shapes(const SkinnyVariantSm90& v) {
  const int stage = v.stage_elements;
  const int step = skinny_step(v.weights);
  const auto tokens = [&](int less) { return std::max(1, v.columns - less); };
  return {{1, 77, step, 2, 1},
          {tokens(0), 45, (2 * v.stages + 3) * stage + step, 1, 2},
          // In several passes, of which the last cluster has less.
          {tokens(3), 2 * kSkinnyRowBoxes * 64 + 21, stage + step, 1, 1},
          {tokens(5), kSkinnyRowBoxes * 64 + 3, 3 * stage, 1, 2},
          // Parts of which the last is shorter, and three passes.
          {tokens(2), 29, 3 * stage, 1, 3},
          {tokens(1), 2 * kSkinnyRowBoxes * 64 + 21, 2 * stage, 1, 2}};
}

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  for (const SkinnyWeights weights : kSkinnyWeights)
    for (const SkinnyVariantSm90& v : skinny_variants_sm90(weights))
      for (const Shape& s : shapes(v))
        cases.push_back(
            {.name = fmt::format("kernels/gemv/{}/m{}n{}k{}/{}{}", name(weights), s.m, s.n, s.k,
                                 v.name(), s.cluster > 1 ? fmt::format("_c{}", s.cluster) : ""),
             .kernels = {v.symbol()},
             .run = [&v, s](model::Gpu& gpu, const model::Options& options) {
               return run(v, s, gpu, options);
             }});
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The skinny product in the host model: all packings, on shapes that are no multiple of anything,
// with so little room that there are several passes and phases.
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/skinny/arrange.hpp"
#include "kernels/skinny/model_operands.hpp"
#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {
namespace {

struct Shape {
  SkinnyWeights weights;
  int m, n, k;
  int cluster;  // CTAs that share k; more than 1: of one token, on sm_90 alone
  int ctas;
  int shared_bytes;  // of a CTA; 0: what sm_89 has
};

std::string kernel_name(const Shape& s, int tokens) {
  // As the compiler mangles skinny_product<Format, tokens, hopper>.
  std::string format = name(s.weights);
  format[0] = static_cast<char>(format[0] - 'a' + 'A');
  return "14skinny_productINS0_" + std::to_string(format.size()) + format + "ELi" +
         std::to_string(tokens) + "ELb" + (s.cluster > 1 ? "1" : "0") + "E";
}

SkinnyLayout layout_of(const Shape& s) {
  return arrange(s.weights, s.m, s.n, s.k,
                 {.ctas = s.ctas,
                  .shared_bytes = s.shared_bytes > 0 ? s.shared_bytes : 99 * 1024,
                  .cluster = s.cluster});
}

ModelResult run(const Shape& s, model::Gpu& gpu, const model::Options& options) {
  SkinnyLayout l = layout_of(s);
  const SkinnyModelOperands operands(gpu, {s.m, s.n, s.k, s.weights}, options.seed);
  SkinnyArguments& a = l.arguments;
  const auto pointer = [](auto*& to, model::Address at) {
    to = std::bit_cast<std::remove_reference_t<decltype(to)>>(at);
  };
  pointer(a.d, operands.d());
  pointer(a.x, operands.x());
  pointer(a.w, operands.w());
  pointer(a.scales, operands.scales());
  pointer(a.scale, operands.scale());
  model::Arguments arguments;
  arguments.push(a);
  ModelResult result;
  model::Shape shape{.grid = {l.grid, 1, 1},
                     .block = {l.threads, 1, 1},
                     .dynamic_shared_bytes = static_cast<std::uint32_t>(l.shared_bytes)};
  if (s.cluster > 1) {  // as plan_one_token_sm90() launches it
    shape.cluster = {s.cluster, 1, 1};
    shape.early = true;
    written_by_a_grid_before(gpu, {a.x, a.w, a.scales, a.scale});
  }
  result.outcome = gpu.launch(gpu.kernel(kernel_name(s, l.tokens)), shape, arguments, options);
  if (result.outcome.finished) operands.compare(gpu, result);
  return result;
}

std::vector<Shape> shapes() {
  // Rows are no multiple of a tile or of the CTAs; k is several units and a part of one, or has
  // more than one phase.
  constexpr int kHopperRoom = 190 * 1024;
  std::vector<Shape> all;
  for (const SkinnyWeights w : kSkinnyWeights) {
    const int step = skinny_step(w);
    all.push_back({w, 1, 77, 5 * step, 1, 3});
    all.push_back({w, 1, 45, 2560 + step, 2, 4, kHopperRoom});
    all.push_back({w, 3, 131, 1280 + step, 1, 2});
    all.push_back({w, 13, 50, 1280, 1, 3});
    all.push_back({w, 5, 99, 1280 + step, 1, 4, kHopperRoom});
    // There are several blocks of rows, which end inside a block's last tile.
    all.push_back({w, 1, 149, 2560 + step, 2, 2, kHopperRoom});
    all.push_back({w, 3, 211, 1280 + step, 1, 2, kHopperRoom});
  }
  all.push_back({SkinnyWeights::bf16, 16, 147, 2568, 1, 4, 150 * 1024});
  all.push_back({SkinnyWeights::s4, 25, 40, 1280, 1, 2});
  // A warp's second block of rows is behind the end, in each of several phases.
  all.push_back({SkinnyWeights::bf16, 20, 37, 2560, 1, 1});
  // Tokens of a phase come during the one before: with sums in their place, beside them in several
  // passes, and in a cluster.
  all.push_back({SkinnyWeights::mxf4, 12, 75, 5152, 1, 1});
  all.push_back({SkinnyWeights::bf16, 17, 140, 2568, 1, 1});
  all.push_back({SkinnyWeights::s8, 33, 75, 2576, 1, 2, 130 * 1024});
  all.push_back({SkinnyWeights::s2, 64, 40, 1280, 1, 2});
  all.push_back({SkinnyWeights::nvf4, 33, 260, 1280, 1, 4, kHopperRoom});
  // Few tokens, in phases.
  all.push_back({SkinnyWeights::s4, 1, 149, 2816, 2, 2, 72 * 1024});
  all.push_back({SkinnyWeights::bf16, 4, 211, 2568, 1, 2, 74 * 1024});
  all.push_back({SkinnyWeights::mxf4, 3, 211, 5152, 1, 2, 160 * 1024});
  return all;
}

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  for (const Shape& s : shapes())
    cases.push_back({.name = std::string("kernels/gemv/") + name(s.weights) + "/m" +
                             std::to_string(s.m) + "n" + std::to_string(s.n) + "k" +
                             std::to_string(s.k) +
                             (s.cluster > 1 ? "/cluster" + std::to_string(s.cluster) : ""),
                     .kernels = {kernel_name(s, layout_of(s).tokens)},
                     .run = [s](model::Gpu& gpu, const model::Options& options) {
                       return run(s, gpu, options);
                     }});
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels

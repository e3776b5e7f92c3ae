// SPDX-License-Identifier: Apache-2.0
// Which form a grouped bf16 product takes. The host does not know how many rows each group has, so
// the model's groups have the mean, and the time is the mean over how much their last tiles lack.
#include <algorithm>
#include <cmath>

#include "kernels/frame/divide_up.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"
#include "kernels/grouped/sm90/plan_sm90.hpp"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

// Of a masked group's room. Room is for the worst case: a group that gets several times the mean.
constexpr double kMaskedUse = 1.0 / 8;
constexpr double kDram = 2754;      // bytes per cycle, as the dense product's model has it
constexpr int kMostRows = 1 << 22;  // of D, padded; beyond, forms are in the same order

const GemmVariantSm90& best(const GroupedProblem& problem, const ClustersSm90& clusters) {
  return *std::ranges::min_element(grouped_bf16_variants_sm90(problem.grouping), {},
                                   [&](const GemmVariantSm90& v) {
                                     return predicted_cycles_grouped_sm90(problem, v, clusters(v));
                                   });
}

}  // namespace

// The dense product of as many tiles, each with as many steps, and the bytes that it does not
// count: each group's own B.
double predicted_cycles_grouped_sm90(const GroupedProblem& p, const GemmVariantSm90& v,
                                     int clusters) {
  const bool gradient = p.grouping == Grouping::gradient;
  const double rows =
      p.grouping == Grouping::masked ? p.rows * kMaskedUse : static_cast<double>(p.rows) / p.groups;
  // Of a tile, or along k of a step, what a group's rows lack to be whole ones.
  const double missing[] = {0.125, 0.375, 0.625, 0.875};
  double cycles = 0;
  for (const double rest : missing) {
    GemmProblem dense{.n = p.n};
    if (gradient) {
      const int height = v.tile_m * v.cluster_m;
      dense.m = static_cast<int>(
          std::min<double>(kMostRows, double{1} * p.groups * divide_up(p.k, height) * height));
      dense.k = v.tile_k * std::max(1, static_cast<int>(std::round(rows / v.tile_k + rest)));
    } else {
      const int height = v.swapped ? v.tile_n * v.cluster_n : v.tile_m * v.cluster_m;
      const double tiles = std::max(1.0, rows / height + rest);
      dense.m = static_cast<int>(
          std::min<double>(kMostRows, std::max(1.0, std::round(p.groups * tiles)) * height));
      dense.k = p.k;
    }
    const int tiles = divide_up(v.swapped ? dense.n : dense.m, v.tile_m * v.cluster_m) *
                      divide_up(v.swapped ? dense.m : dense.n, v.tile_n * v.cluster_n);
    cycles += predicted_cycles_sm90(dense, {.variant = &v, .workers = std::min(tiles, clusters)}) /
              std::size(missing);
  }
  const double all = rows * p.groups, weights = static_cast<double>(p.groups) * p.n * p.k;
  const double bytes = 2 * (all * p.k + all * p.n + weights);
  return std::pow(std::pow(cycles, 8) + std::pow(bytes / kDram, 8), 1.0 / 8);
}

const GemmVariantSm90& choose_grouped_here_sm90(const GroupedProblem& problem) {
  return best(problem, clusters_here_sm90);
}

const GemmVariantSm90& choose_grouped_usual_sm90(const GroupedProblem& problem) {
  constexpr int kUsualSms = 132;  // H100 SXM, H200
  return best(problem, [](const GemmVariantSm90& v) { return kUsualSms / v.cluster_size(); });
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// Which form a grouped bf16 product takes. The host does not know how many rows each group has, so
// the model's groups have the mean, and the time is the mean over how much their last tiles lack.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "harness/cuda.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"
#include "kernels/grouped/sm90/plan_sm90.hpp"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

// Of a masked group's room, which is for the worst case. How much of it is used the host does not
// know: the form is good for all of these.
constexpr double kMaskedUses[] = {1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2};
// The dense product's model, with the constants that it had when the grouped shapes of the suite
// were timed on an H200 (results/h200/2026-11-22-gemm-sweep/grouped.csv), and the factors by which
// its choices cost least over each shape's best form on an H100, bursts counting twice what calls
// at the power limit do (results/h100/2026-11-26-places/groups_rest.csv.gz, groups.csv.gz).
constexpr TimeModelSm90::FormFactor kFactors[] = {
    {"128x256_c1x2_s4", 1.086},
    {"128x256_c2x1_s4", 1.05},
    {"256x128_c1x2_s4", 1.127},
    {"pingpong_128x128_c2x1_s6", 0.9041},
    {"pingpong_128x160_c1x2_s5", 0.852},
    {"pingpong_128x176_c1x2_s5", 1.02},
    {"swapped_128x192_c2x1_s4", 1.051},
    {"swapped_pingpong_128x128_c2x1_s6", 0.8869},
    {"swapped_pingpong_128x160_c2x1_s5", 0.9416},
};
constexpr TimeModelSm90 kGrouped = {
    .start = 1734,
    .mma_stretch = 1.28,
    .mma_least = 23,
    .step_more = 41.5,
    .l2 = 33.5,
    .l2_alone = 0.209,
    .delivered = 1e9,  // a bound that it did not have: never binds
    .misaligned = 1.45,
    .tile_together = 4974,
    .tile_pingpong = 1872,
    .out = 0.38,
    .join = 2408,
    .leave = 0.0567,
    .add = 0.372,
    .uneven = 1.05,
    .reread = 1.69,
    .dram = 3050,
    .dram_busy = 0.865,
    .dram_out = 0.83,
    .factors = kFactors,
};

constexpr int kMostRows = 1 << 22;  // of D, padded; beyond, forms are in the same order

const GemmVariantSm90& best(const GroupedProblem& problem, const ClustersSm90& clusters,
                            const MemorySm90& memory) {
  return *std::ranges::min_element(
      grouped_bf16_variants_sm90(problem.grouping), {}, [&](const GemmVariantSm90& v) {
        return predicted_cycles_grouped_sm90(problem, v, clusters(v), memory);
      });
}

// The dense product of as many tiles, each with as many steps, and the bytes that it does not
// count: each group's own B. Of groups of so many rows.
double predicted_cycles(const GroupedProblem& p, const GemmVariantSm90& v, int clusters,
                        double rows, const TimeModelSm90& model) {
  const bool gradient = p.grouping == Grouping::gradient;
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
    cycles +=
        predicted_cycles_sm90(dense, {.variant = &v, .workers = std::min(tiles, clusters)}, model) /
        std::size(missing);
  }
  const double all = rows * p.groups, weights = static_cast<double>(p.groups) * p.n * p.k;
  const double bytes = 2 * (all * p.k + all * p.n + weights);
  return std::pow(std::pow(cycles, 8) + std::pow(bytes / model.dram, 8), 1.0 / 8);
}

}  // namespace

MemorySm90 memory_here_sm90() {
  constexpr double kL2Bytes = 60 << 20, kBusBits = 6016, kClockKhz = 3'201'000;  // an H200's
  int device = 0, l2_bytes = 0, bits = 0, khz = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
  check(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device));
  check(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, device));
  return {.l2 = l2_bytes / kL2Bytes, .dram = bits / kBusBits * khz / kClockKhz};
}

double predicted_cycles_grouped_sm90(const GroupedProblem& p, const GemmVariantSm90& v,
                                     int clusters, const MemorySm90& memory) {
  TimeModelSm90 model = kGrouped;
  model.l2 *= memory.l2;
  model.dram *= memory.dram;
  if (p.grouping != Grouping::masked)
    return predicted_cycles(p, v, clusters, static_cast<double>(p.rows) / p.groups, model);
  double logs = 0;
  for (const double use : kMaskedUses)
    logs += std::log(predicted_cycles(p, v, clusters, p.rows * use, model));
  return std::exp(logs / std::size(kMaskedUses));
}

const GemmVariantSm90& choose_grouped_here_sm90(const GroupedProblem& problem) {
  return best(problem, clusters_here_sm90, memory_here_sm90());
}

const GemmVariantSm90& choose_grouped_usual_sm90(const GroupedProblem& problem) {
  constexpr int kUsualSms = 132;  // H100 SXM, H200
  return best(problem, [](const GemmVariantSm90& v) { return kUsualSms / v.cluster_size(); }, {});
}

}  // namespace assay::kernels

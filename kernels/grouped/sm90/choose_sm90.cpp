// SPDX-License-Identifier: Apache-2.0
// Which form a grouped bf16 product takes. The host does not know how many rows each group has, so
// the model's groups have the mean, and the time is the mean over how many tiles that may make.
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
// The model is the dense product's, without its factors, which are for single products and would
// cost groups 1%. Where only the weights take time, it has all forms alike, but those of few rows
// are better (results/h200/2026-11-29-groups-choice).
double few_rows_factor(const GemmVariantSm90& v) {
  if (v.name == "swapped_128x64_c1x1_s8") return 0.96;
  if (v.name == "swapped_128x32_c1x1_s9") return 0.955;
  return 1;
}

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
  // What a group's rows lack to be whole tiles, or along k whole steps, is anything from 0 to 1
  // alike: the mean of all groups is 1/2, with a deviation of 1 / sqrt(12 groups). Four values of
  // it, each in the middle of a quarter of the normal distribution.
  const double deviation = 1 / std::sqrt(12.0 * p.groups);
  const double missing[] = {0.5 - 1.15 * deviation, 0.5 - 0.32 * deviation, 0.5 + 0.32 * deviation,
                            0.5 + 1.15 * deviation};
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
  TimeModelSm90 model = dense_time_model_sm90({});
  model.factors = {};
  model.l2 *= memory.l2;
  model.dram *= memory.dram;
  const double factor = few_rows_factor(v);
  if (p.grouping != Grouping::masked)
    return factor * predicted_cycles(p, v, clusters, static_cast<double>(p.rows) / p.groups, model);
  double logs = 0;
  for (const double use : kMaskedUses)
    logs += std::log(predicted_cycles(p, v, clusters, p.rows * use, model));
  return factor * std::exp(logs / std::size(kMaskedUses));
}

const GemmVariantSm90& choose_grouped_here_sm90(const GroupedProblem& problem) {
  return best(problem, clusters_here_sm90, memory_here_sm90());
}

const GemmVariantSm90& choose_grouped_usual_sm90(const GroupedProblem& problem) {
  constexpr int kUsualSms = 132;  // H100 SXM, H200
  return best(problem, [](const GemmVariantSm90& v) { return kUsualSms / v.cluster_size(); }, {});
}

}  // namespace assay::kernels

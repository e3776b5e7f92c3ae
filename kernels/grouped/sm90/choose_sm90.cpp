// SPDX-License-Identifier: Apache-2.0
// Which form a grouped product takes. The host does not know how many rows each group has, so
// the model's groups have the mean, and the time is the mean over how many tiles that may make.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>
#include <vector>

#include "harness/callable.hpp"
#include "harness/cuda.hpp"
#include "kernels/frame/choice_cache.hpp"
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
constexpr int kSms = 132;           // H100 SXM, H200

const GemmVariantSm90& best(const GroupedProblem& problem, const ClustersSm90& clusters,
                            const MemorySm90& memory) {
  return *std::ranges::min_element(
      grouped_bf16_variants_sm90(problem.grouping), {}, [&](const GemmVariantSm90& v) {
        return predicted_cycles_grouped_sm90(problem, v, clusters(v), memory);
      });
}

// What a group's rows lack to be whole tiles, or along k whole steps, in the mean of all groups. Of
// one it is anything from 0 to 1 alike, so the mean is about 1/2, with a deviation of
// 1 / sqrt(12 groups): four values, each from the middle of a quarter of the normal distribution.
std::array<double, 4> lacking(int groups) {
  const double deviation = 1 / std::sqrt(12.0 * groups);
  return {0.5 - 1.15 * deviation, 0.5 - 0.32 * deviation, 0.5 + 0.32 * deviation,
          0.5 + 1.15 * deviation};
}

// Tiles of `height` rows that groups of so many rows in the mean make.
std::array<int, 4> tiles_of_groups(int groups, double rows, int height) {
  std::array<int, 4> tiles{};
  std::ranges::transform(lacking(groups), tiles.begin(), [&](double lack) {
    const double all = groups * std::max(1.0, rows / height + lack);
    return static_cast<int>(std::clamp(std::round(all), 1.0, double{kMostRows} / height));
  });
  return tiles;
}

// The geometric mean over what a group may use of its room, if it is masked.
double over_uses(const GroupedProblem& p, const Callable<double(double rows)>& of_rows) {
  if (p.grouping != Grouping::masked) return of_rows(static_cast<double>(p.rows) / p.groups);
  double logs = 0;
  for (const double use : kMaskedUses) logs += std::log(of_rows(p.rows * use));
  return std::exp(logs / std::size(kMaskedUses));
}

double bytes_of(const GroupedProblem& p, double rows, int element_bytes) {
  const double all = rows * p.groups, weights = static_cast<double>(p.groups) * p.n * p.k;
  return element_bytes * (all * p.k + weights) + 2 * all * p.n;
}

// The dense product of as many tiles, each with as many steps, and the bytes that it does not
// count: each group's own B. Of groups of so many rows.
double predicted_cycles(const GroupedProblem& p, const GemmVariantSm90& v, int clusters,
                        double rows, const TimeModelSm90& model) {
  std::vector<GemmProblem> alike;
  if (p.grouping == Grouping::gradient) {
    const int height = v.tile_m * v.cluster_m;
    const double all = double{1} * p.groups * divide_up(p.k, height) * height;
    for (const double lack : lacking(p.groups))
      alike.push_back(
          {.m = static_cast<int>(std::min<double>(kMostRows, all)),
           .n = p.n,
           .k = v.tile_k * std::max(1, static_cast<int>(std::round(rows / v.tile_k + lack)))});
  } else {
    const int height = v.swapped ? v.tile_n * v.cluster_n : v.tile_m * v.cluster_m;
    for (const int tiles : tiles_of_groups(p.groups, rows, height))
      alike.push_back({.m = tiles * height, .n = p.n, .k = p.k});
  }
  double cycles = 0;
  for (const GemmProblem& dense : alike) {
    const int tiles = divide_up(v.swapped ? dense.n : dense.m, v.tile_m * v.cluster_m) *
                      divide_up(v.swapped ? dense.m : dense.n, v.tile_n * v.cluster_n);
    cycles +=
        predicted_cycles_sm90(dense, {.variant = &v, .workers = std::min(tiles, clusters)}, model) /
        static_cast<double>(alike.size());
  }
  return std::pow(std::pow(cycles, 8) + std::pow(bytes_of(p, rows, 2) / model.dram, 8), 1.0 / 8);
}

// As the block-scaled product's (kernels/gemm_block_scaled/sm90/plan_sm90.cpp): waves of tiles
// against DRAM's time. Of groups of so many rows. On 30 shapes choices take 1.1% more than the best
// (results/h200/2026-11-29-groups-choice).
double predicted_ns(const GroupedProblem& p, const BlockScaledVariantSm90& v, double rows) {
  constexpr double kDram = 3800;  // bytes in a nanosecond
  const double tile = divide_up(p.k, v.tile_k) * v.block_ns + v.tile_ns;
  double waves = 0;
  const double columns = divide_up(p.n, v.tile_n * v.cluster_n);
  const int clusters = kSms / v.cluster_size();
  for (const int tiles : tiles_of_groups(p.groups, rows, v.tile_m * v.cluster_m))
    waves += std::ceil(tiles * columns / clusters) / 4;
  return std::pow(std::pow(waves * tile, 4) + std::pow(bytes_of(p, rows, 1) / kDram, 4), 1.0 / 4);
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
  return few_rows_factor(v) *
         over_uses(p, [&](double rows) { return predicted_cycles(p, v, clusters, rows, model); });
}

const GemmVariantSm90& choose_grouped_here_sm90(const GroupedProblem& p) {
  using Key = std::tuple<int, Grouping, int, int, int, int>;
  static ChoiceCache<Key, const GemmVariantSm90*> made;
  int device = 0;
  check(cudaGetDevice(&device));
  return *made.get({device, p.grouping, p.groups, p.rows, p.n, p.k},
                   [&] { return &best(p, clusters_here_sm90, memory_here_sm90()); });
}

const GemmVariantSm90& choose_grouped_usual_sm90(const GroupedProblem& problem) {
  return best(problem, [](const GemmVariantSm90& v) { return kSms / v.cluster_size(); }, {});
}

const BlockScaledVariantSm90& choose_grouped_e4m3_sm90(const GroupedProblem& p) {
  using Key = std::tuple<Grouping, int, int, int, int>;
  static ChoiceCache<Key, const BlockScaledVariantSm90*> made;
  return *made.get({p.grouping, p.groups, p.rows, p.n, p.k}, [&] {
    return &*std::ranges::min_element(
        grouped_e4m3_variants_sm90(), {}, [&](const BlockScaledVariantSm90& v) {
          return over_uses(p, [&](double rows) { return predicted_ns(p, v, rows); });
        });
  });
}

}  // namespace assay::kernels

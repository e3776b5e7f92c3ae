// SPDX-License-Identifier: Apache-2.0
// Do as many CTAs as there are SMs get one each? A table over the CTAs of the grid, of a cluster
// and those that would fit an SM, from repeated launches:
//   alone           each when the GPU is idle
//   back_to_back    behind one another in a stream
//   behind_running  while a few CTAs of another kernel stay on their SMs, each of which leaves room
//                   for one fewer
// Even is a launch of which no SM holds more than its share at the start: one, of as many CTAs as
// SMs or fewer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "harness/device.hpp"
#include "probes/placement/hold.hpp"

namespace {

using assay::Better;
using assay::CtaPlace;

constexpr int kResidents[] = {1, 2, 4, 8}, kClusters[] = {1, 2, 4, 8, 16};
constexpr int kLaunches = 12;
constexpr int kOthers = 8;  // CTAs that run already
constexpr std::uint32_t kOthersHoldNs = 60'000;

struct GridSize {
  const char* name;
  int times, more;  // than the number of SMs
};
constexpr GridSize kGrids[] = {{"half", 0, 0},       {"sms_minus_1", 1, -1}, {"sms", 1, 0},
                               {"sms_plus_1", 1, 1}, {"2_sms", 2, 0},        {"3_sms", 3, 0}};

// CTAs of a grid of whole clusters.
int ctas_of(const GridSize& grid, int sms, int cluster) {
  const int wanted = grid.times ? grid.times * sms + grid.more : sms / 2;
  return std::max(wanted / cluster, 1) * cluster;
}

enum class Scene { alone, back_to_back, behind_running };
Scene scene_of(const assay::Case& c) {
  return c.name == "alone"          ? Scene::alone
         : c.name == "back_to_back" ? Scene::back_to_back
                                    : Scene::behind_running;
}

using Launches = std::vector<std::vector<CtaPlace>>;

// Launches during which the others were running from before the first CTA began until after the
// last of the first wave did.
Launches run_behind(assay::State& s, assay::Holder& holder, const assay::HoldShape& shape) {
  const assay::Stream other;
  CtaPlace* theirs = holder.buffer() + assay::Holder::kMostPlaces - kOthers;
  Launches found;
  for (int i = 0; i < kLaunches; ++i) {
    assay::check(cudaMemsetAsync(
        holder.buffer(), 0, static_cast<std::size_t>(shape.ctas) * sizeof(CtaPlace), s.stream()));
    assay::check(cudaMemsetAsync(theirs, 0, kOthers * sizeof(CtaPlace), s.stream()));
    assay::check(cudaStreamSynchronize(s.stream()));
    holder.launch({.ctas = kOthers, .residents = shape.residents, .hold_ns = kOthersHoldNs}, theirs,
                  other);
    holder.launch(shape, holder.buffer(), s.stream());
    std::vector<CtaPlace> places = holder.read(holder.buffer(), shape.ctas);
    assay::check(cudaStreamSynchronize(other));
    std::uint64_t others_began = 0, others_end = UINT64_MAX, began = UINT64_MAX, last_began = 0;
    for (const CtaPlace& p : holder.read(theirs, kOthers)) {
      others_began = std::max(others_began, p.begin_ns);
      others_end = std::min(others_end, p.end_ns);
    }
    for (const std::size_t n : assay::first_wave(places)) {
      began = std::min(began, places[n].begin_ns);
      last_began = std::max(last_began, places[n].begin_ns);
    }
    if (others_began <= began && last_began <= others_end) found.push_back(std::move(places));
  }
  return found;
}

Launches run_scene(assay::State& s, assay::Holder& holder, Scene scene,
                   const assay::HoldShape& shape) {
  if (scene == Scene::back_to_back) return holder.run_together(shape, kLaunches);
  if (scene == Scene::behind_running) return run_behind(s, holder, shape);
  Launches found;
  for (int i = 0; i < kLaunches; ++i) found.push_back(holder.run(shape));
  return found;
}

// Of several launches of one shape.
struct Summary {
  double sms_used = NAN, most_on_one_sm = NAN, first_wave = NAN, even = NAN;  // NaN: none launched
};
Summary summarize(const Launches& launches, int sms) {
  if (launches.empty()) return {};
  Summary sum{0, 0, 0, 0};
  for (const auto& places : launches) {
    const assay::Spread spread = assay::spread_of(places);
    sum.sms_used += spread.sms_used;
    sum.most_on_one_sm = std::max(sum.most_on_one_sm, static_cast<double>(spread.most_on_one_sm));
    sum.first_wave += static_cast<double>(spread.first_wave);
    sum.even += is_even(spread, sms);
  }
  const auto n = static_cast<double>(launches.size());
  return {sum.sms_used / n, sum.most_on_one_sm, sum.first_wave / n, sum.even / n};
}

assay::Series table(const char* name, const char* unit) {
  assay::Series series{name, unit, {{"residents", {}}, {"cluster", {}}, {"grid", {}}}, {}};
  for (const int residents : kResidents)
    series.axes[0].points.emplace_back(std::int64_t{residents});
  for (const int cluster : kClusters) series.axes[1].points.emplace_back(std::int64_t{cluster});
  for (const GridSize& grid : kGrids) series.axes[2].points.emplace_back(std::string(grid.name));
  return series;
}

void run(assay::State& s) {
  const Scene scene = scene_of(s.which());
  const int sms = s.device().sm_count;
  assay::Holder holder(s);
  assay::Series ctas = table("ctas", ""), used = table("sms_used", "SM"),
                most = table("max_ctas_on_one_sm", ""), wave = table("first_wave_ctas", ""),
                even = table("even_fraction", "");
  std::size_t counted = 0;
  bool always = true,
       never = true;  // one each, of as many CTAs as SMs, where two would fit or more
  for (const int residents : kResidents)
    for (const int cluster : kClusters) {
      const bool exists = cluster == 1 || (s.device().major >= 9 &&
                                           holder.resident_clusters(cluster, residents) > 0);
      for (const GridSize& grid : kGrids) {
        const int n = ctas_of(grid, sms, cluster);
        const Launches launches =
            exists ? run_scene(s, holder, scene,
                               {.ctas = n, .cluster = cluster, .residents = residents})
                   : Launches{};
        const Summary sum = summarize(launches, sms);
        counted += launches.size();
        ctas.values.push_back(exists ? n : NAN);
        used.values.push_back(sum.sms_used);
        most.values.push_back(sum.most_on_one_sm);
        wave.values.push_back(sum.first_wave);
        even.values.push_back(sum.even);
        if (cluster != 1 || grid.times != 1 || grid.more != 0 || launches.empty()) continue;
        const std::string with = fmt::format("_{}_residents", residents);
        s.add_exact("even_fraction" + with, "", Better::higher, sum.even);
        s.add_exact("sms_used" + with, "SM", Better::higher, sum.sms_used);
        s.add_exact("max_ctas_on_one_sm" + with, "", Better::lower, sum.most_on_one_sm);
        if (residents > 1) {
          always = always && sum.even == 1;
          never = never && sum.even == 0;
        }
      }
    }
  s.require(counted > 0, "no launch ran while the other kernel did");
  s.add_exact("launches", "", Better::higher, static_cast<double>(counted));
  s.set_param("finding", fmt::format("{} CTAs on {} SMs: {}", sms, sms,
                                     always  ? "one each, every time"
                                     : never ? "never one each where an SM has room for two"
                                             : "not always one each"));
  for (auto* series : {&ctas, &used, &most, &wave, &even}) s.add_series(std::move(*series));
}

const assay::Registration registration{{
    .name = "placement/one_each",
    .question = "Do as many CTAs as there are SMs get one each, and what of other grids and "
                "clusters?",
    .cases = {{.name = "alone"},
              {.name = "back_to_back", .suite = assay::Suite::full},
              {.name = "behind_running", .suite = assay::Suite::full}},
    .kernels = [](const assay::Case&, assay::Target) { return assay::hold_kernels(); },
    .run = run,
}};

}  // namespace

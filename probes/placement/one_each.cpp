// SPDX-License-Identifier: Apache-2.0
// Do as many CTAs as there are SMs get one each? A table over the CTAs of the grid, of a cluster
// and those that would fit an SM, from repeated launches:
//   alone           each when the GPU is idle
//   back_to_back    behind one another in a stream
//   behind_running  while a few CTAs of another kernel stay on SMs of their own, each of which then
//                   has room for one fewer: none where only one fits
// Even is a launch of which every SM holds its share at the start, rounded down or up: one or none,
// of as many CTAs as SMs or fewer. CTAs of other kernels do not count.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
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
  int quarters, more;  // of the number of SMs, and CTAs besides
};
constexpr GridSize kGrids[] = {{"half", 2, 0},       {"sms_minus_1", 4, -1}, {"sms", 4, 0},
                               {"sms_plus_1", 4, 1}, {"1.25_sms", 5, 0},     {"1.5_sms", 6, 0},
                               {"1.75_sms", 7, 0},   {"2_sms", 8, 0},        {"3_sms", 12, 0}};

// CTAs of a grid of whole clusters.
int ctas_of(const GridSize& grid, int sms, int cluster) {
  const int wanted = grid.quarters * sms / 4 + grid.more;
  return std::max(wanted / cluster, 1) * cluster;
}

enum class Scene { alone, back_to_back, behind_running };
Scene scene_of(const assay::Case& c) {
  return c.name == "alone"          ? Scene::alone
         : c.name == "back_to_back" ? Scene::back_to_back
                                    : Scene::behind_running;
}

struct Launches {
  std::vector<std::vector<CtaPlace>> places;
  double on_busy_sms = 0;  // CTAs of the first waves on SMs where the others run, of all launches
};

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
    std::set<std::uint32_t> busy;
    for (const CtaPlace& p : holder.read(theirs, kOthers)) {
      busy.insert(p.sm);
      others_began = std::max(others_began, p.begin_ns);
      others_end = std::min(others_end, p.end_ns);
    }
    int on_busy_sms = 0;
    for (const std::size_t n : assay::first_wave(places)) {
      on_busy_sms += busy.contains(places[n].sm);
      began = std::min(began, places[n].begin_ns);
      last_began = std::max(last_began, places[n].begin_ns);
    }
    if (others_began > began || last_began > others_end) continue;
    found.places.push_back(std::move(places));
    found.on_busy_sms += on_busy_sms;
  }
  return found;
}

Launches run_scene(assay::State& s, assay::Holder& holder, Scene scene,
                   const assay::HoldShape& shape) {
  if (scene == Scene::back_to_back) return {.places = holder.run_together(shape, kLaunches)};
  if (scene == Scene::behind_running) return run_behind(s, holder, shape);
  Launches found;
  for (int i = 0; i < kLaunches; ++i) found.places.push_back(holder.run(shape));
  return found;
}

// Of several launches of one shape.
struct Summary {
  // NaN: none launched
  double sms_used = NAN, most_on_one_sm = NAN, first_wave = NAN, even = NAN, on_busy_sms = NAN;
};
Summary summarize(const Launches& launches, int sms) {
  if (launches.places.empty()) return {};
  Summary sum{0, 0, 0, 0, launches.on_busy_sms};
  for (const auto& places : launches.places) {
    const assay::CtaSpread spread = assay::spread_of(places);
    sum.sms_used += spread.sms_used;
    sum.most_on_one_sm = std::max(sum.most_on_one_sm, static_cast<double>(spread.most_on_one_sm));
    sum.first_wave += static_cast<double>(spread.first_wave);
    sum.even += is_even(spread, sms);
  }
  const auto n = static_cast<double>(launches.places.size());
  return {sum.sms_used / n, sum.most_on_one_sm, sum.first_wave / n, sum.even / n,
          sum.on_busy_sms / n};
}

// Of grids without clusters.
struct Seen {
  bool always = true,
       never = true;               // one each, of as many CTAs as SMs, where two would fit or more
  bool all_even = true;            // all larger grids
  double sms_of_one_resident = 0;  // of as many CTAs as SMs, where one fits
  double half_on_busy_sms = 0;     // CTAs of grids half as large, where others run
};

std::string finding(Scene scene, const Seen& seen, int sms) {
  std::string said = fmt::format("{} CTAs on {} SMs: {}", sms, sms,
                                 seen.always  ? "one each, every time"
                                 : seen.never ? "never one each where an SM has room for two"
                                              : "not always one each");
  said += seen.all_even ? "; of more CTAs, no SM has two more than another"
                        : "; of more CTAs, some SMs have two more than others";
  if (scene != Scene::behind_running) return said;
  return said + fmt::format(
                    "; where only one fits, the {} that run already leave {:g} SMs, and as "
                    "many CTAs wait; half as many CTAs as SMs {} theirs",
                    kOthers, seen.sms_of_one_resident,
                    seen.half_on_busy_sms == 0 ? "keep away from" : "share");
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
                even = table("even_fraction", ""), busy = table("ctas_on_busy_sms", "");
  std::size_t counted = 0;
  Seen seen;
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
        counted += launches.places.size();
        ctas.values.push_back(exists ? n : NAN);
        used.values.push_back(sum.sms_used);
        most.values.push_back(sum.most_on_one_sm);
        wave.values.push_back(sum.first_wave);
        even.values.push_back(sum.even);
        busy.values.push_back(sum.on_busy_sms);
        if (launches.places.empty()) continue;
        if (cluster == 1 && n > sms) seen.all_even = seen.all_even && sum.even == 1;
        if (cluster == 1 && n == sms / 2) seen.half_on_busy_sms += sum.on_busy_sms;
        if (cluster != 1 || n != sms) continue;
        const std::string with = fmt::format("_{}_residents", residents);
        s.add_exact("even_fraction" + with, "", Better::higher, sum.even);
        s.add_exact("sms_used" + with, "SM", Better::higher, sum.sms_used);
        s.add_exact("max_ctas_on_one_sm" + with, "", Better::lower, sum.most_on_one_sm);
        if (residents == 1) seen.sms_of_one_resident = sum.sms_used;
        if (residents > 1) {
          seen.always = seen.always && sum.even == 1;
          seen.never = seen.never && sum.even == 0;
        }
      }
    }
  s.require(counted > 0, "no launch ran while the other kernel did");
  s.add_exact("launches", "", Better::higher, static_cast<double>(counted));
  s.set_param("finding", finding(scene, seen, sms));
  for (auto* series : {&ctas, &used, &most, &wave, &even, &busy})
    if (scene == Scene::behind_running || series != &busy) s.add_series(std::move(*series));
}

const assay::Registration registration{{
    .name = "placement/one_each",
    .question = "Do as many CTAs as there are SMs get one each, and how are other grids and "
                "clusters spread?",
    .metrics =
        {{"ctas", "CTAs of the grid, by how many fit an SM, cluster size and grid."},
         {"sms_used", "SMs that had a CTA in the first wave, on average over the launches."},
         {"max_ctas_on_one_sm", "Most CTAs of the first wave on one SM, in any launch."},
         {"first_wave_ctas", "CTAs of the first wave, on average over the launches."},
         {"even_fraction",
          "Share of the launches that gave every SM its share of CTAs, rounded down or up."},
         {"ctas_on_busy_sms",
          "CTAs of the first wave on SMs where the other kernel runs, on average over the "
          "launches."},
         {"even_fraction_*_residents",
          "Share of the launches of as many CTAs as SMs that gave each SM one, where * fit an SM."},
         {"sms_used_*_residents", "SMs that had a CTA, of as many CTAs as SMs, where * fit an SM."},
         {"max_ctas_on_one_sm_*_residents",
          "Most CTAs on one SM, of as many CTAs as SMs, where * fit an SM."},
         {"launches", "Launches that were counted."}},
    .cases = {{.name = "alone"},
              {.name = "back_to_back", .suite = assay::Suite::full},
              {.name = "behind_running", .suite = assay::Suite::full}},
    .kernels = [](const assay::Case&, assay::Target) { return assay::hold_kernels(); },
    .run = run,
}};

}  // namespace

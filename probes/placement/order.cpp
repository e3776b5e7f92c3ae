// SPDX-License-Identifier: Apache-2.0
// In which order the SMs are filled: the SM of each CTA of a grid twice as large as the GPU, by the
// size of the clusters and by how many CTAs fit an SM, and whether another launch does the same.
// Then of grids of other sizes: which CTA is the first, by index, on an SM that has one, and how
// many SMs have none at that point. Order is that of indices: all that fit
// begin within some 200 ns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "harness/device.hpp"
#include "probes/placement/gpc_groups.hpp"
#include "probes/placement/gpc_map.hpp"

namespace {

using assay::Better;
using assay::CtaPlace;

constexpr int kLaunches = 8;
constexpr int kClusters[] = {1, 2, 4, 8, 16};

// GPCs that the first few CTAs ran on, few being the number of GPCs.
std::size_t gpcs_of_first(const std::vector<CtaPlace>& places, const std::vector<int>& gpc_of_sm) {
  const auto gpcs = static_cast<std::size_t>(*std::ranges::max_element(gpc_of_sm)) + 1;
  std::set<int> seen;
  for (std::size_t i = 0; i < std::min(gpcs, places.size()); ++i)
    if (places[i].sm < gpc_of_sm.size()) seen.insert(gpc_of_sm[places[i].sm]);
  return seen.size();
}

// Of grids without clusters, from as many CTAs as SMs to twice as many.
struct ByGrid {
  assay::Series sm{"sm_by_grid", "", {{"grid", {}}, {"cta", {}}}, {}};
  assay::Series doubled{"first_doubled_cta_by_grid", "", {{"grid", {}}}, {}};
  assay::Series without{"sms_without_cta_by_then", "SM", {{"grid", {}}}, {}};
  int one_each = 0;  // the largest that gave each of its CTAs an SM of its own
};

ByGrid run_grids(assay::Holder& holder, int sms, int residents) {
  ByGrid by;
  const int most = 2 * sms;
  for (std::int64_t cta = 0; cta < most; ++cta) by.sm.axes[1].points.emplace_back(cta);
  for (const int grid : {sms, sms + 1, 5 * sms / 4, 3 * sms / 2, 7 * sms / 4, most - 1, most}) {
    const std::vector<CtaPlace> places = holder.run({.ctas = grid, .residents = residents});
    const auto wave = std::span(places).first(assay::first_wave(places).size());
    const std::size_t doubled = assay::first_doubled(wave);
    const bool shares = doubled < wave.size();
    if (!shares && wave.size() == places.size()) by.one_each = std::max(by.one_each, grid);
    for (auto* series : {&by.sm, &by.doubled, &by.without})
      series->axes[0].points.emplace_back(std::int64_t{grid});
    by.doubled.values.push_back(shares ? static_cast<double>(doubled) : NAN);
    by.without.values.push_back(assay::sms_begun_after(wave, doubled));
    for (std::size_t i = 0; i < static_cast<std::size_t>(most); ++i)
      by.sm.values.push_back(i < places.size() ? places[i].sm : NAN);
  }
  return by;
}

std::string finding(const std::vector<CtaPlace>& first, const std::vector<int>& gpc_of_sm,
                    const ByGrid& by) {
  std::string said;
  if (!gpc_of_sm.empty()) {
    const int run =
        assay::median_run(std::span(first).first(assay::first_wave(first).size()), gpc_of_sm);
    said = run > assay::kSmsOfTpc
               ? fmt::format("GPC after GPC is given CTAs, {} in a row, one for each of its SMs; ",
                             run)
               : "the GPCs are given CTAs in turn; ";
  }
  said += fmt::format("grids of up to {} CTAs get an SM each", by.one_each);
  const double doubled = by.doubled.values.back(), without = by.without.values.back();
  if (std::isnan(doubled)) return said;
  return said +
         fmt::format(
             "; of {}, two for each SM in the end, CTA {:g} is by index the first to share one, {}",
             first.size(), doubled,
             without == 0 ? "when each has one"
                          : fmt::format("when {:g} still have none", without));
}

void run(assay::State& s) {
  const auto residents = static_cast<int>(s.i64("residents"));
  const int sms = s.device().sm_count, most = 2 * sms;
  assay::Holder holder(s);
  const bool has_clusters = s.device().major >= 9 && holder.resident_clusters(2, residents) > 0;
  const std::vector<int> gpc_of_sm =
      has_clusters ? assay::map_gpcs(s, holder).of_sm : std::vector<int>{};
  assay::Series sm{"sm", "", {{"cluster", {}}, {"cta", {}}}, {}};
  for (std::int64_t cta = 0; cta < most; ++cta) sm.axes[1].points.emplace_back(cta);
  assay::Series gpc = sm, begin = sm;
  gpc.name = "gpc";
  begin.name = "begin_ns";
  begin.unit = "ns";
  ByGrid by_grid = run_grids(holder, sms, residents);
  for (const int cluster : kClusters) {
    if (cluster > 1 && (!has_clusters || holder.resident_clusters(cluster, residents) == 0))
      continue;
    for (auto* series : {&sm, &gpc, &begin})
      series->axes[0].points.emplace_back(std::int64_t{cluster});
    const assay::HoldShape shape{
        .ctas = most / cluster * cluster, .cluster = cluster, .residents = residents};
    std::vector<std::vector<CtaPlace>> launches;
    for (int i = 0; i < kLaunches; ++i) launches.push_back(holder.run(shape));
    const std::vector<CtaPlace>& first = launches.front();
    std::uint64_t start = UINT64_MAX;
    for (const CtaPlace& p : first) start = std::min(start, p.begin_ns);
    for (std::size_t i = 0; i < static_cast<std::size_t>(most); ++i) {
      const bool there = i < first.size();
      sm.values.push_back(there ? first[i].sm : NAN);
      gpc.values.push_back(there && first[i].sm < gpc_of_sm.size() ? gpc_of_sm[first[i].sm] : NAN);
      begin.values.push_back(there ? static_cast<double>(first[i].begin_ns - start) : NAN);
    }
    // The CTAs of the first wave: later ones go where an earlier one happens to end.
    const std::size_t wave = assay::first_wave(first).size();
    double alike = 0;
    for (int i = 1; i < kLaunches; ++i)
      alike += assay::agreement(std::span(first).first(wave),
                                std::span(launches[static_cast<std::size_t>(i)]).first(wave)) /
               (kLaunches - 1);
    const std::string of = cluster > 1 ? fmt::format("_cluster_{}", cluster) : "";
    const std::size_t doubled = assay::first_doubled(std::span(first).first(wave));
    s.add_exact("first_doubled_cta" + of, "", Better::higher, static_cast<double>(doubled));
    if (cluster == 1) s.set_param("finding", finding(first, gpc_of_sm, by_grid));
    s.add_exact("alike_fraction" + of, "", Better::higher, alike);
    if (has_clusters)
      s.add_exact("gpcs_of_first_ctas" + of, "", Better::higher,
                  static_cast<double>(gpcs_of_first(first, gpc_of_sm)));
  }
  s.add_series(std::move(sm));
  if (has_clusters) s.add_series(std::move(gpc));
  s.add_series(std::move(begin));
  for (auto* series : {&by_grid.sm, &by_grid.doubled, &by_grid.without})
    s.add_series(std::move(*series));
}

std::vector<assay::Case> cases() {
  std::vector<assay::Case> all;
  for (const int residents : {1, 2, 4})
    all.push_back({.name = std::to_string(residents),
                   .params = {{"residents", residents}},
                   .suite = assay::Suite::full});
  return all;
}

const assay::Registration registration{{
    .name = "placement/order",
    .question = "In which order are SMs given CTAs, by cluster size and by how many CTAs fit an "
                "SM?",
    .metrics =
        {{"sm", "SM of each CTA, by cluster size."},
         {"gpc", "GPC of each CTA, by cluster size."},
         {"begin_ns", "Time at which each CTA began after the first one, by cluster size."},
         {"sm_by_grid", "SM of each CTA of grids of several sizes, without clusters."},
         {"first_doubled_cta_by_grid",
          "First CTA, by index, on an SM that has one, for grids of several sizes."},
         {"sms_without_cta_by_then", "SMs that have no CTA when the first SM gets its second."},
         {"first_doubled_cta",
          "First CTA, by index, on an SM that has one, of two CTAs for each SM without clusters."},
         {"first_doubled_cta_cluster_*",
          "First CTA, by index, on an SM that has one, in clusters of * CTAs."},
         {"alike_fraction",
          "Share of the CTAs of the first wave that other launches put on the same SM, without "
          "clusters."},
         {"alike_fraction_cluster_*",
          "Share of the CTAs of the first wave that other launches put on the same SM, in clusters "
          "of * CTAs."},
         {"gpcs_of_first_ctas",
          "GPCs that the first few CTAs ran on, as many as there are GPCs, without clusters."},
         {"gpcs_of_first_ctas_cluster_*",
          "GPCs that the first few CTAs ran on, as many as there are GPCs, in clusters of * "
          "CTAs."}},
    .cases = cases(),
    .kernels = [](const assay::Case&, assay::Target) { return assay::hold_kernels(); },
    .run = run,
}};

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// In which order the SMs are filled: the SM of each CTA of a grid twice as large as the GPU, by the
// size of the clusters and by how many CTAs fit an SM, and whether another launch does the same.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/device.hpp"
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
    if (cluster == 1 && residents > 1)
      s.set_param("finding", doubled >= static_cast<std::size_t>(sms)
                                 ? "every SM has one CTA before any gets a second"
                                 : fmt::format("CTA {} is the first to share an SM", doubled));
    s.add_exact("alike_fraction" + of, "", Better::higher, alike);
    if (has_clusters)
      s.add_exact("gpcs_of_first_ctas" + of, "", Better::higher,
                  static_cast<double>(gpcs_of_first(first, gpc_of_sm)));
  }
  s.add_series(std::move(sm));
  if (has_clusters) s.add_series(std::move(gpc));
  s.add_series(std::move(begin));
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
    .question = "In which order are SMs given CTAs, by how many fit one and by clusters?",
    .cases = cases(),
    .kernels = [](const assay::Case&, assay::Target) { return assay::hold_kernels(); },
    .run = run,
}};

}  // namespace

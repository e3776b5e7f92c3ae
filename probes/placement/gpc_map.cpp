// SPDX-License-Identifier: Apache-2.0
// The GPC of each SM, and what its GPCs cost a GPU that runs clusters: a cluster lies within one
// GPC, and what is left over there stays idle. So do TPCs that are in no GPC's group but stand
// alone (gpc_groups.hpp): clusters of more than two CTAs leave those idle even when more of them
// wait.
#include "probes/placement/gpc_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "harness/device.hpp"
#include "probes/placement/gpc_groups.hpp"

namespace assay {
namespace {
constexpr int kMostCtas = 16;  // of a cluster
}

GpcMap map_gpcs(State& s, Holder& holder) {
  constexpr int kRounds = 8;
  // Three times as many as fit: later ones go to SMs in whatever order those come free, so that
  // other SMs share a cluster than at the start.
  constexpr int kTimes = 3, kMaps = 2;
  const auto sms = static_cast<std::size_t>(s.device().sm_count);
  GpcMap map;
  for (int size = 1; size <= kMostCtas; ++size)
    map.most_clusters.push_back(holder.resident_clusters(size, 1));
  while (map.most_clusters.back() == 0) map.most_clusters.pop_back();
  if (map.most_clusters.size() == 1) s.skip("this GPU has no clusters of CTAs");
  GpcGroups first(sms), second(sms);
  for (int round = 0; round < kRounds; ++round) {
    for (int size = 2; size <= static_cast<int>(map.most_clusters.size()); ++size) {
      const int clusters = kTimes * map.most_clusters[static_cast<std::size_t>(size) - 1];
      if (clusters == 0) continue;
      const auto launches = holder.run_together({.ctas = clusters * size, .cluster = size}, kMaps);
      first.add(launches.front());
      second.add(launches.back());
      map.clusters += kMaps * clusters;
    }
    map.of_sm = first.of_sm();
    map.again = second.of_sm();
    map.unexplained = unexplained_cluster(group_sizes(map.of_sm), map.most_clusters);
    if (map.unexplained == 0 && map.of_sm == map.again) break;
  }
  return map;
}

namespace {

Series by(const char* name, const char* unit, const char* axis) {
  return {name, unit, {{axis, {}}}, {}};
}
void add_point(Series& series, std::int64_t at, double value) {
  series.axes[0].points.emplace_back(at);
  series.values.push_back(value);
}

// "1 of 8, 5 of 16, 2 of 18 SMs".
std::string in_words(const std::vector<int>& sizes) {
  std::map<int, int> gpcs;
  for (const int sms : sizes) ++gpcs[sms];
  std::string words;
  for (const auto& [sms, count] : gpcs)
    words += fmt::format("{}{} of {}", words.empty() ? "" : ", ", count, sms);
  return words + " SMs";
}

std::string finding(const GpcMap& map) {
  const std::vector<int> sizes = group_sizes(map.of_sm), gpcs = whole_gpcs(sizes);
  std::string said = fmt::format("GPCs: {}", in_words(gpcs));
  if (gpcs.size() < sizes.size())
    said += fmt::format("; {} TPCs stand alone, where no cluster of more than {} CTAs runs",
                        sizes.size() - gpcs.size(), kSmsOfTpc);
  if (map.unexplained == 0) return said + "; this explains how many clusters of each size fit";
  return said + fmt::format("; doubtful: {} clusters of {} would fit these, not {}",
                            clusters_that_fit(sizes, map.unexplained), map.unexplained,
                            map.most_clusters[static_cast<std::size_t>(map.unexplained) - 1]);
}

void run_map(State& s) {
  Holder holder(s);
  const GpcMap map = map_gpcs(s, holder);
  const std::vector<int> sizes = group_sizes(map.of_sm), gpcs = whole_gpcs(sizes);
  Series of_sm = by("gpc", "", "sm"), sms_of = by("sms_of_gpc", "SM", "gpc");
  std::size_t alike = 0;
  for (std::size_t sm = 0; sm < map.of_sm.size(); ++sm) {
    add_point(of_sm, static_cast<std::int64_t>(sm), map.of_sm[sm]);
    alike += map.of_sm[sm] == map.again[sm];
  }
  for (std::size_t gpc = 0; gpc < sizes.size(); ++gpc)
    add_point(sms_of, static_cast<std::int64_t>(gpc), sizes[gpc]);
  s.require(!gpcs.empty(), "no cluster of more than a TPC's SMs was seen");
  s.add_exact("gpcs", "", Better::higher, static_cast<double>(gpcs.size()));
  s.add_exact("sms_in_smallest_gpc", "SM", Better::higher, *std::ranges::min_element(gpcs));
  s.add_exact("sms_in_largest_gpc", "SM", Better::higher, *std::ranges::max_element(gpcs));
  s.add_exact("lone_tpcs", "", Better::lower, static_cast<double>(sizes.size() - gpcs.size()));
  s.add_exact("sms_mapped_alike_twice", "", Better::higher,
              static_cast<double>(alike) / static_cast<double>(map.of_sm.size()));
  s.add_exact("clusters_seen", "", Better::higher, map.clusters);
  s.set_param("finding", finding(map));
  s.add_series(std::move(of_sm));
  s.add_series(std::move(sms_of));
}

// How many clusters really ran at once: all of their CTAs in the first wave.
int clusters_at_once(const std::vector<CtaPlace>& places, int size) {
  std::map<std::uint32_t, int> ctas;
  for (const std::size_t i : first_wave(places)) ++ctas[places[i].cluster];
  return static_cast<int>(
      std::ranges::count_if(ctas, [size](const auto& c) { return c.second == size; }));
}

void run_clusters(State& s) {
  Holder holder(s);
  const GpcMap map = map_gpcs(s, holder);
  const std::vector<int> sizes = group_sizes(map.of_sm);
  const int sms = s.device().sm_count;
  const auto sizes_there = static_cast<int>(map.most_clusters.size());
  Series promised = by("max_active_clusters", "", "cluster");
  Series fit = by("clusters_that_fit_the_gpcs", "", "cluster");
  Series seen = by("clusters_at_once", "", "cluster");
  Series used = by("sms_used", "SM", "cluster"), idle = by("sms_idle", "SM", "cluster");
  Series gpcs = by("gpcs_used", "", "cluster");
  for (int size = 1; size <= sizes_there; ++size) {
    const int clusters = map.most_clusters[static_cast<std::size_t>(size) - 1];
    if (clusters == 0) continue;
    // Twice as many as fit, so that nothing stays idle for want of clusters.
    const auto places =
        holder.run({.ctas = 2 * clusters * size, .cluster = size, .hold_ns = 20'000});
    std::set<std::uint32_t> on_sms;
    std::set<int> on_gpcs;
    for (const std::size_t i : first_wave(places)) {
      on_sms.insert(places[i].sm);
      if (places[i].sm < map.of_sm.size()) on_gpcs.insert(map.of_sm[places[i].sm]);
    }
    const auto sms_used = static_cast<double>(on_sms.size());
    add_point(promised, size, clusters);
    add_point(fit, size, clusters_that_fit(sizes, size));
    add_point(seen, size, clusters_at_once(places, size));
    add_point(used, size, sms_used);
    add_point(idle, size, sms - sms_used);
    add_point(gpcs, size, static_cast<double>(on_gpcs.size()));
    if (size == 1 || (size & (size - 1)) != 0) continue;
    const std::string of = "_of_" + std::to_string(size);
    s.add_exact("max_active_clusters" + of, "", Better::higher, clusters);
    s.add_exact("clusters_at_once" + of, "", Better::higher, seen.values.back());
    s.add_exact("sms_idle" + of, "SM", Better::lower, sms - sms_used);
  }
  for (auto* series : {&promised, &fit, &seen, &used, &idle, &gpcs})
    s.add_series(std::move(*series));
  s.set_param("finding", finding(map));
}

const Registration gpc_map{{
    .name = "placement/gpc_map",
    .question = "Which SMs belong to one GPC, as told by clusters, which never leave one?",
    .metrics = {{"gpc", "GPC of each SM, numbered in the order found."},
                {"sms_of_gpc", "SMs of each GPC."},
                {"gpcs", "GPCs found, without the TPCs that stand alone."},
                {"sms_in_smallest_gpc", "SMs of the smallest GPC."},
                {"sms_in_largest_gpc", "SMs of the largest GPC."},
                {"lone_tpcs", "TPCs that share no cluster with any other TPC."},
                {"sms_mapped_alike_twice",
                 "Share of the SMs that a second map puts in the same GPC."},
                {"clusters_seen", "Clusters whose places the map is made from."}},
    .cases = {Case{}},
    .targets = targets_with(Feature::clusters),
    .kernels = [](const Case&, Target) { return hold_kernels(); },
    .run = run_map,
}};
const Registration clusters{{
    .name = "placement/clusters",
    .question = "How many clusters run at once, and how many SMs do they leave idle?",
    .metrics =
        {{"max_active_clusters",
          "Clusters that the driver says can run at once, by the CTAs of a cluster."},
         {"clusters_that_fit_the_gpcs",
          "Clusters that would fit the GPCs found, by the CTAs of a cluster."},
         {"clusters_at_once", "Clusters that were seen to run at once, by the CTAs of a cluster."},
         {"sms_used",
          "SMs that had a CTA while as many clusters as possible ran, by the CTAs of a cluster."},
         {"sms_idle",
          "SMs that had no CTA while as many clusters as possible ran, by the CTAs of a cluster."},
         {"gpcs_used",
          "GPCs that had a CTA while as many clusters as possible ran, by the CTAs of a cluster."},
         {"max_active_clusters_of_*", "Clusters of * CTAs that the driver says can run at once."},
         {"clusters_at_once_of_*", "Clusters of * CTAs that were seen to run at once."},
         {"sms_idle_of_*", "SMs that have no CTA while as many clusters of * as possible run."}},
    .cases = {{.suite = Suite::full}},
    .targets = targets_with(Feature::clusters),
    .kernels = [](const Case&, Target) { return hold_kernels(); },
    .run = run_clusters,
}};

}  // namespace
}  // namespace assay

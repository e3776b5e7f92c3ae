// SPDX-License-Identifier: Apache-2.0
// Kernels that reach into page-locked memory of the CPU themselves, without a copy before: what
// data costs that is used once, and the latency of a dependent load over the link.
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/link/far_latency.hpp"
#include "probes/link/near_gpu.hpp"
#include "probes/link/sm_copy.hpp"

namespace {

using assay::check;
using assay::FarAccess;

constexpr std::size_t kBytes = 256 << 20;

void run_copy(assay::State& s) {
  const assay::NearDevice near(s.device().pci_bus_id);
  s.set_param("numa", near.moved() ? "local" : "unknown");
  const bool reads = s.text("direction") == "h2d";
  const assay::PinnedMemory host = assay::pinned_memory(kBytes);
  auto* const pattern = s.allocate<std::byte>(kBytes);
  auto* const device = s.allocate<std::byte>(kBytes);
  s.fill_random_bits(pattern, kBytes);
  check(
      cudaMemcpyAsync(reads ? host.get() : device, pattern, kBytes, cudaMemcpyDefault, s.stream()));
  void* const to = reads ? device : host.get();
  s.time({.bytes = double{kBytes},
          .limit = {assay::pcie_limit_gb_per_s(s.device().pci_bus_id), "PCIe link"}},
         [&](cudaStream_t stream) {
           assay::copy_by_sms(to, reads ? host.get() : device, kBytes, s.device().sm_count, stream);
         });
  s.require(assay::differing_bytes(to, pattern, kBytes, s.stream()) == 0,
            "a copy is not what was copied");
}

// A ring that the GPU's caches would hold: were any of it cached there, it would show.
constexpr std::uint32_t kLines = 1 << 14;
constexpr std::int64_t kRounds = 16;  // of a walk of one SM: long beside a timer's microsecond
constexpr int kPasses = 9;            // over all SMs: enough for a 95% interval

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void run_latency(assay::State& s) {
  const assay::NearDevice near(s.device().pci_bus_id);
  s.set_param("numa", near.moved() ? "local" : "unknown");
  const assay::PinnedMemory host = assay::pinned_memory(kLines * 128);
  const assay::FarChain chain{.access = FarAccess::load,
                              .memory = host.get(),
                              .lines = kLines,
                              .end = s.allocate<std::uint64_t>(1)};
  s.sample({.steps = 1}, [&] { return assay::far_latency_ns(s, chain, s.stream()); });
  if (s.which().name != "by_sm") return;

  const int ctas = s.device().sm_count;
  auto* const walks = s.allocate<assay::FarWalk>(static_cast<std::size_t>(ctas));
  // Nanoseconds of a load by SM, of one walk each.
  const auto walk = [&](std::optional<std::uint32_t> only) {
    chain.walk_by_sms(only, kRounds, walks, ctas, s.stream());
    const auto found = assay::download(walks, static_cast<std::size_t>(ctas), s.stream());
    std::map<std::uint32_t, double> ns;
    for (int cta = 0; cta < ctas; ++cta) {
      const assay::FarWalk& one = found[static_cast<std::size_t>(cta)];
      if (one.end == 0) continue;
      s.require(one.end == chain.expected_end(cta, kRounds),
                "a walk of one SM did not end where its steps lead to");
      ns[one.sm] = static_cast<double>(one.ns) / (kRounds * assay::kFarSteps);
    }
    return ns;
  };
  walk({});  // brings the pages' translations
  std::map<std::uint32_t, std::vector<double>> alone;
  std::vector<double> means, at_once;
  for (int pass = 0; pass < kPasses; ++pass) {
    const std::map<std::uint32_t, double> together = walk({});
    std::vector<double> each;
    for (const auto& [sm, ns] : together) each.push_back(ns);
    at_once.push_back(mean(each));
    each.clear();
    for (const auto& [sm, ns] : together)
      for (const auto& [walked, taken] : walk(sm)) {
        alone[walked].push_back(taken);
        each.push_back(taken);
      }
    s.require(!each.empty(), "no SM walked alone");
    means.push_back(mean(each));
  }
  assay::Series by_sm{.name = "latency_ns_by_sm", .unit = "ns", .axes = {{"sm", {}}}};
  for (const auto& [sm, taken] : alone) {
    by_sm.axes[0].points.emplace_back(std::int64_t{sm});
    by_sm.add(assay::estimate(taken));
  }
  const auto [least, most] = std::ranges::minmax_element(by_sm.values);
  using assay::Better;
  s.add_metric("mean_latency_ns", "ns", Better::lower, means);
  s.add_metric("mean_latency_ns_at_once", "ns", Better::lower, at_once);
  s.add_exact("least_latency_ns", "ns", Better::lower, *least);
  s.add_exact("most_latency_ns", "ns", Better::lower, *most);
  s.add_series(std::move(by_sm));
}

const assay::Registration copy{{
    .name = "link/zero_copy",
    .question = "How fast do kernels read and write page-locked memory of the CPU?",
    .cases = {{.name = "read", .params = {{"direction", "h2d"}}, .suite = assay::Suite::full},
              {.name = "write", .params = {{"direction", "d2h"}}, .suite = assay::Suite::full}},
    .pace = assay::Pace::link,
    .kernels = [](const assay::Case&, assay::Target) { return assay::copy_by_sms_use(); },
    .run = run_copy,
}};

const assay::Registration latency{{
    .name = "link/zero_copy/latency",
    .question =
        "How long does a dependent load of the GPU take that goes to the CPU's memory, from "
        "the SM that a single CTA lands on, and from every other?",
    .metrics = {{"mean_latency_ns",
                 "Time of a load, the mean over SMs of which one at a time loads."},
                {"mean_latency_ns_at_once",
                 "Time of a load while every SM loads, the mean over SMs."},
                {"least_latency_ns", "Time of a load from the SM that is nearest."},
                {"most_latency_ns", "Time of a load from the SM that is furthest away."},
                {"latency_ns_by_sm", "Time of a load by SM, while no other loads."}},
    .cases = {{}, {.name = "by_sm", .suite = assay::Suite::full}},
    .pace = assay::Pace::link,
    .kernels =
        [](const assay::Case& c, assay::Target) {
          auto uses = assay::far_chain_use(FarAccess::load);
          if (c.name == "by_sm")
            std::ranges::move(assay::walk_by_sms_use(), std::back_inserter(uses));
          return uses;
        },
    .run = run_latency,
}};

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// What a launch costs by the size of its arguments, of its grid and of its clusters: the call, the
// gap from one kernel to the next, and the interval of kernels that do nothing, their whole grids
// included. The CPU is ahead of the GPU in all of them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/device.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/chain.hpp"

namespace {

using assay::Better;

assay::Series series(const char* name, const char* unit, std::vector<assay::Axis> axes) {
  return {name, unit, std::move(axes), {}};
}

// Several runs of a chain: one list for each of its figures.
struct Runs {
  std::vector<double> cpu, gap;
};
Runs runs_of(assay::Chain& chain, cudaStream_t stream, bool in_graph) {
  std::optional<assay::ExecutableGraph> executable;
  if (in_graph) executable.emplace(chain.graph());
  Runs runs;
  for (int i = 0; i <= assay::kChainRuns; ++i) {
    const assay::ChainRun run =
        executable ? chain.run_graph(*executable, stream) : chain.run_in_stream(stream);
    if (i == 0) continue;  // loads the kernel
    runs.cpu.push_back(run.cpu_us);
    runs.gap.push_back(run.gap_us);
  }
  return runs;
}

void run_arguments(assay::State& s) {
  const bool in_graph = s.which().name == "graph";
  auto cpu = series("cpu_us", "us", {{"argument_bytes", {}}});
  auto gap = series("gpu_gap_us", "us", {{"argument_bytes", {}}});
  const auto one = [&](int bytes) {
    // Room for the arguments of all that is enqueued at once: fewer kernels if they are large.
    const int kernels = bytes > 4096 ? assay::kChainKernels / 4 : assay::kChainKernels;
    assay::Chain chain(s, kernels, assay::kChainWorkNs, {}, bytes);
    const Runs runs = runs_of(chain, s.stream(), in_graph);
    for (auto* curve : {&cpu, &gap}) curve->axes[0].points.emplace_back(std::int64_t{bytes});
    cpu.add(assay::estimate(runs.cpu));
    gap.add(assay::estimate(runs.gap));
    if (bytes != 24 && bytes != 4096 && bytes != 32764) return;
    s.add_metric(fmt::format("cpu_us_{}", bytes), "us", Better::lower, runs.cpu);
    s.add_metric(fmt::format("gpu_gap_us_{}", bytes), "us", Better::lower, runs.gap);
  };
  for (const int bytes : assay::kArgumentBytes) one(bytes);
  s.add_exact("cpu_ns_per_kib", "ns", Better::lower,
              1e3 * (cpu.values.back() - cpu.values.front()) /
                  ((assay::kArgumentBytes[std::size(assay::kArgumentBytes) - 1] - 24) / 1024.0));
  for (auto* curve : {&cpu, &gap}) s.add_series(std::move(*curve));
}

// Microseconds from one empty kernel to the next, a few times.
std::vector<double> intervals(assay::State& s, const assay::LaunchShape& shape, int kernels) {
  const void* kernel = assay::empty_kernel(false);
  assay::Event begin, end;
  std::vector<double> us;
  for (int i = 0; i <= assay::kChainRuns; ++i) {
    assay::delay(static_cast<std::uint64_t>(kernels) * 8'000, s.stream());  // while enqueuing
    begin.record(s.stream());
    for (int k = 0; k < kernels; ++k) assay::launch(kernel, shape, nullptr, s.stream());
    end.record(s.stream());
    const double ns = assay::elapsed_ns(begin, end) / kernels;
    if (i > 0) us.push_back(1e-3 * ns);
  }
  return us;
}

void run_grid(assay::State& s) {
  constexpr unsigned kMost = 1 << 18;
  const auto sms = static_cast<unsigned>(s.device().sm_count);
  const std::vector<unsigned> all_threads = {32, 256, 1024};
  std::vector<unsigned> grids = {1, 8, sms, 2 * sms, 4 * sms, 16 * sms};
  for (unsigned ctas = 1 << 13; ctas <= kMost; ctas *= 2) grids.push_back(ctas);
  auto curve = series("interval_us", "us", {{"threads", {}}, {"ctas", {}}});
  for (const unsigned ctas : grids) curve.axes[1].points.emplace_back(std::int64_t{ctas});
  for (const unsigned threads : all_threads) {
    curve.axes[0].points.emplace_back(std::int64_t{threads});
    for (const unsigned ctas : grids) {
      const std::vector<double> us =
          intervals(s, {.ctas = ctas, .threads = threads}, ctas > 1 << 13 ? 4 : 64);
      curve.add(assay::estimate(us));
      if (ctas == 1 || ctas == sms)
        s.add_metric(
            fmt::format("interval_us_{}_{}", ctas == 1 ? "one_cta" : "cta_per_sm", threads), "us",
            Better::lower, us);
    }
    const std::size_t last = curve.values.size() - 1;  // twice the CTAs of the one before
    s.add_exact(fmt::format("ctas_per_us_{}", threads), "1/us", Better::higher,
                kMost / 2.0 / (curve.values[last] - curve.values[last - 1]));
  }
  s.add_series(std::move(curve));
}

// CTAs of the largest cluster this GPU can launch.
unsigned largest_cluster(unsigned ctas) {
  cudaLaunchConfig_t config{};
  config.gridDim = ctas / 16 * 16;
  config.blockDim = 32;
  int size = 0;
  assay::check(cudaOccupancyMaxPotentialClusterSize(&size, assay::stamped_kernel(false), &config));
  return static_cast<unsigned>(size);
}

void run_cluster(assay::State& s) {
  const auto sms = static_cast<unsigned>(s.device().sm_count);
  auto gaps = series("gpu_gap_us", "us", {{"grid", {}}, {"cluster_ctas", {}}});
  auto calls = gaps, empties = gaps;
  calls.name = "cpu_us";
  empties.name = "interval_us";
  const void* const used[] = {assay::empty_kernel(false), assay::stamped_kernel(false)};
  for (const void* kernel : used)
    assay::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  const unsigned largest = largest_cluster(sms);
  for (const bool whole : {false, true}) {
    for (auto* map : {&gaps, &calls, &empties})
      map->axes[0].points.emplace_back(std::string(whole ? "cta_per_sm" : "one_cluster"));
    for (const unsigned size : {0u, 1u, 2u, 4u, 8u, 16u}) {  // 0: without the attribute
      if (size > largest) continue;
      if (!whole)
        for (auto* map : {&gaps, &calls, &empties})
          map->axes[1].points.emplace_back(std::int64_t{size});
      const unsigned cluster = std::max(size, 1u);
      const assay::LaunchShape shape{.ctas = whole ? sms / 16 * 16 : cluster, .cluster = size};
      assay::Chain chain(s, assay::kChainKernels, assay::kChainWorkNs, shape);
      const Runs runs = runs_of(chain, s.stream(), false);
      const std::vector<double> us = intervals(s, shape, 64);
      gaps.add(assay::estimate(runs.gap));
      calls.add(assay::estimate(runs.cpu));
      empties.add(assay::estimate(us));
      if (!whole || (size != 0 && size != 2 && size != 16)) continue;
      const std::string of = size ? fmt::format("_cluster{}", size) : "";
      s.add_metric("gpu_gap_us" + of, "us", Better::lower, runs.gap);
      s.add_metric("interval_us" + of, "us", Better::lower, us);
      s.add_metric("cpu_us" + of, "us", Better::lower, runs.cpu);
    }
  }
  for (const void* kernel : used)
    assay::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 0));
  s.add_exact("largest_cluster", "CTA", Better::higher, largest);
  for (auto* map : {&gaps, &calls, &empties}) s.add_series(std::move(*map));
}

std::vector<assay::KernelUse> uses(std::vector<std::string> names) {
  std::vector<assay::KernelUse> all;
  for (std::string& kernel : names)
    all.push_back(
        {.kernel = std::move(kernel), .sass = {{"EXIT", 1, 3, assay::SassWhere::kernel}}});
  return all;
}

const assay::Registration arguments{{
    .name = "launch/arguments",
    .question = "What do many bytes of kernel arguments cost?",
    .metrics =
        {{"cpu_us", "CPU time of one launch while the GPU is busy, by the bytes of arguments."},
         {"gpu_gap_us",
          "Time from the end of one kernel's work to where the next may begin its own, by the "
          "bytes of arguments."},
         {"cpu_us_*", "CPU time of one launch with * bytes of arguments, while the GPU is busy."},
         {"gpu_gap_us_*",
          "Time from the end of one kernel's work to where the next may begin its own, with * "
          "bytes of arguments."},
         {"cpu_ns_per_kib", "CPU time that each further KiB of arguments adds to a launch."}},
    .cases = {{.name = "stream", .suite = assay::Suite::full},
              {.name = "graph", .suite = assay::Suite::full}},
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case&, assay::Target) {
          std::vector<std::string> names;
          for (const int bytes : assay::kArgumentBytes)
            names.push_back(fmt::format("stamped_with<{}>", bytes));
          return uses(std::move(names));
        },
    .run = run_arguments,
}};
const assay::Registration grid{{
    .name = "launch/grid",
    .question = "How long does a grid of CTAs that do nothing take, by their number?",
    .metrics = {{"interval_us", "Time from one empty grid to the next, by its threads and CTAs."},
                {"interval_us_one_cta_*",
                 "Time from one empty grid to the next, of one CTA of * threads."},
                {"interval_us_cta_per_sm_*",
                 "Time from one empty grid to the next, of a CTA of * threads for each SM."},
                {"ctas_per_us_*",
                 "Empty CTAs of * threads that the GPU gets through in a microsecond, in the "
                 "largest grids."}},
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::sm,
    .kernels = [](const assay::Case&, assay::Target) { return uses({"empty"}); },
    .run = run_grid,
}};
const assay::Registration cluster{{
    .name = "launch/cluster",
    .question = "What does it cost to launch a grid as clusters of CTAs?",
    .metrics =
        {{"cpu_us",
          "CPU time of one launch while the GPU is busy; the figure is without clusters."},
         {"gpu_gap_us",
          "Time from the end of one kernel's work to where the next may begin its own; the figure "
          "is without clusters."},
         {"interval_us", "Time from one empty kernel to the next; the figure is without clusters."},
         {"cpu_us_cluster*", "CPU time of one launch of a CTA for each SM, as clusters of * CTAs."},
         {"gpu_gap_us_cluster*",
          "Time from the end of one kernel's work to where the next may begin its own, as clusters "
          "of * CTAs."},
         {"interval_us_cluster*", "Time from one empty kernel to the next, as clusters of * CTAs."},
         {"largest_cluster", "CTAs of the largest cluster that this GPU can launch."}},
    .cases = {{.suite = assay::Suite::full}},
    .targets = assay::targets_with(assay::Feature::clusters),
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return uses({"empty", "stamped"});
        },
    .run = run_cluster,
}};

}  // namespace

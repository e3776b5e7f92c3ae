// SPDX-License-Identifier: Apache-2.0
// How even the latency of DRAM is: one warp of one SM chases over lines of which none is in a cache
// and notes each load's time. Row misses make the body of the histogram wide; a load that meets a
// refresh waits it out, and refreshes come at regular intervals (JEDEC's tREFI; 3.9 us for HBM3 at
// normal temperature, JESD238). So where late loads line up at one interval, that is refresh. Where
// they do not, the channels, over which the lines are spread, may each refresh at a time of their
// own. How many are late and by how much is what rows, queues and refresh together cost a reader
// that waits for each load. ECC of HBM is on the side
// (sideband bits, no extra accesses): its state is noted, and no trace of it is expected here.
#include <algorithm>

#include "harness/device.hpp"
#include "harness/ptx/ordered_memory.cuh"
#include "harness/statistics.hpp"
#include "probes/memory/chase.hpp"
#include "probes/memory/periodicity.hpp"

namespace {

using assay::Line;

constexpr std::uint32_t kLoads = 8192, kWarm = 512;
constexpr int kBits = 21;       // of the ring of lines: 256 MiB
constexpr double kLate = 1.15;  // times the median
constexpr double kBinCycles = 16, kBins = 128;
constexpr double kLeastNs = 500, kMostNs = 12'000;  // periods looked for
constexpr std::size_t kMostEvents = 400;

struct Load {
  std::uint64_t start;  // clock
  std::uint32_t cycles, unused;
};

// Notes each load as soon as its value is there: nothing goes on before the branch on it.
__global__ void chase_noting(Line* line, Load* loads, Line** end, assay::StopwatchRecord* records) {
#pragma unroll 1
  for (std::uint32_t i = 0; i < kWarm; ++i) line = assay::ptx::load_pointer_l2(&line->next);
  const assay::Stopwatch stopwatch;
#pragma unroll 1
  for (std::uint32_t i = 0; i < kLoads; ++i) {
    const std::uint64_t start = assay::ptx::clock64();
    line = assay::ptx::load_pointer_l2(&line->next);
    if (!line) break;
    const std::uint64_t stop = assay::ptx::clock64();
    loads[i] = {start, static_cast<std::uint32_t>(stop - start), 0};
  }
  stopwatch.stop(records);
  *end = line;
}

void run(assay::State& s) {
  const assay::PlaceLayout layout{s.allocate<char>(sizeof(Line) << kBits), 1u << kBits,
                                  sizeof(Line)};
  if (s.device().l2_bytes * 2 > sizeof(Line) << kBits)
    s.skip("L2 is so large that it would hold much of the 256 MiB");
  auto* loads = s.allocate<Load>(kLoads);
  auto* end = s.allocate<Line*>(1);
  auto* records = s.allocate<assay::StopwatchRecord>(1);
  assay::check(cudaMemsetAsync(records, 0, sizeof(*records), s.stream()));
  assay::tie_places(layout, s.stream());
  // What L2 still holds of the ring are the places tied last; the walk is over the first.
  chase_noting<<<1, 1, 0, s.stream()>>>(reinterpret_cast<Line*>(layout.at_step(0)), loads, end,
                                        records);
  assay::check(cudaGetLastError());
  const auto found = assay::download(loads, kLoads, s.stream());
  const auto record = assay::download(records, 1, s.stream()).front();
  s.require(reinterpret_cast<std::uint64_t>(assay::download(end, 1, s.stream()).front()) ==
                layout.at_step(kWarm + kLoads),
            "the chase ended on another line than its steps lead to");

  std::vector<double> cycles;
  for (const Load& load : found) cycles.push_back(load.cycles);
  std::vector<double> histogram(static_cast<std::size_t>(kBins));
  for (const double c : cycles)
    histogram[static_cast<std::size_t>(std::min(c / kBinCycles, kBins - 1))] += 100. / kLoads;
  assay::Series series{"loads_percent", "%", {{"latency_cycles", {}}}, histogram};
  for (int bin = 0; bin < static_cast<int>(kBins); ++bin)
    series.axes[0].points.emplace_back(static_cast<std::int64_t>(bin * kBinCycles));

  const double middle = assay::median(cycles);
  const double ns_of_cycle = static_cast<double>(record.stop_ns - record.start_ns) /
                             static_cast<double>(record.stop_clock - record.start_clock);
  std::vector<double> late_at, late_by;
  for (const Load& load : found)
    if (load.cycles > kLate * middle) {
      late_at.push_back(static_cast<double>(load.start - found.front().start) * ns_of_cycle);
      late_by.push_back(load.cycles - middle);
    }
  std::ranges::sort(cycles);
  const auto quantile = [&](double share) {
    return cycles[static_cast<std::size_t>(share * (kLoads - 1))];
  };
  using assay::Better;
  s.add_exact("median_cycles", "cycle", Better::lower, middle);
  s.add_exact("p95_cycles", "cycle", Better::lower, quantile(0.95));
  s.add_exact("p99_cycles", "cycle", Better::lower, quantile(0.99));
  s.add_exact("most_cycles", "cycle", Better::lower, cycles.back());
  s.add_exact("late_loads_percent", "%", Better::lower,
              100. * static_cast<double>(late_at.size()) / kLoads);
  if (!late_by.empty())
    s.add_exact("late_by_cycles", "cycle", Better::lower, assay::median(late_by));
  late_at.resize(std::min(late_at.size(), kMostEvents));
  const assay::Period period = assay::strongest_period(late_at, kLeastNs, kMostNs);
  constexpr double kSure = 1e-3;  // of a false alarm
  if (period.chance < kSure) {
    s.add_exact("period_ns", "ns", Better::higher, period.length);
    s.add_exact("period_strength", "", Better::higher, period.strength);
  }
  s.set_param("finding", period.chance < kSure ? "late loads come at one interval"
                                               : "late loads come at no one interval");
  s.add_series(std::move(series));
}

const assay::Registration registration{{
    .name = "memory/dram/spikes",
    .question = "How even is the latency of DRAM, and do late loads come at the intervals of "
                "refresh?",
    .metrics =
        {{"median_cycles", "Median latency of a load."},
         {"p95_cycles", "The 95th percentile of a load's latency."},
         {"p99_cycles", "The 99th percentile of a load's latency."},
         {"most_cycles", "Latency of the slowest load."},
         {"late_loads_percent",
          "Share of the loads that are late: that take at least 15% longer than the median."},
         {"late_by_cycles", "Median of how much longer than the median a late load takes."},
         {"period_ns", "Interval at which late loads line up; there where one stands out."},
         {"period_strength", "How well late loads line up at one interval, from 0 to 1."},
         {"loads_percent", "Histogram of the loads by their latency."}},
    .cases = {{.suite = assay::Suite::full}},
    .pace = assay::Pace::dram,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "chase_noting", .sass = {{"LDG.E.64.STRONG.GPU", 1, 1}}}};
        },
    .run = run,
}};

}  // namespace

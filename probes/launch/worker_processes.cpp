// SPDX-License-Identifier: Apache-2.0
// Many small workers, each a process of its own: this program, started again for each.
//
// Without the Multi-Process Service the GPU gives each process a slice of time in turn, so kernels
// of two processes never run at once; with its daemon running (nvidia-cuda-mps-control -d, by the
// user who then starts assay) they may. Which of the two it was is read off the times at which the
// kernels ran, and stands in the parameter `sharing`.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "harness/device.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/clock.hpp"
#include "probes/launch/process_team.hpp"
#include "probes/launch/worker_sweep.hpp"

namespace {

constexpr int kRounds = 6;  // the fewest with a 95% interval
constexpr std::uint32_t kMostProcesses = 16, kQueued = 16;
constexpr double kRunUs = 30'000;  // many slices of time

// A member's part of a round: launches, waits, notes how long that took, and so on.
void serve(assay::State& s, assay::WorkerLogs& logs, const assay::TeamOrder& order,
           assay::TeamReport& report) {
  const cudaStream_t stream = s.stream();
  logs.clear(1);
  report.tasks = report.latencies = 0;
  report.begin_us = assay::host_us();
  double now = report.begin_us;
  while (now - report.begin_us < order.run_us) {
    const double begin = now;
    for (std::uint32_t i = 0; i < order.queued; ++i) logs.launch(0, order.work_ns, stream);
    assay::check(cudaStreamSynchronize(stream));
    now = assay::host_us();
    report.tasks += order.queued;
    if (report.latencies < assay::TeamReport::kLatencies)
      report.latency_us[report.latencies++] = static_cast<float>(now - begin);
  }
  report.end_us = now;
  report.log = logs.read(1).front();
}

struct Together {
  double us = 0;  // from the first one's begin to the last one's end
  double tasks = 0;
  std::vector<double> latencies_us = {};
  std::vector<assay::WorkerLog> logs = {};
};

Together together(assay::State& s, const std::vector<assay::TeamReport>& reports) {
  Together all;
  double begin = reports[0].begin_us, end = reports[0].end_us;
  for (const assay::TeamReport& report : reports) {
    s.require(
        report.log.tasks == report.tasks,
        fmt::format("a process launched {} kernels, and {} ran", report.tasks, report.log.tasks));
    begin = std::min(begin, report.begin_us);
    end = std::max(end, report.end_us);
    all.tasks += report.tasks;
    all.logs.push_back(report.log);
    all.latencies_us.insert(all.latencies_us.end(), report.latency_us,
                            report.latency_us + report.latencies);
  }
  all.us = end - begin;
  return all;
}

void run(assay::State& s) {
  assay::WorkerLogs logs(s, 1);
  if (assay::serve_team([&](const assay::TeamOrder& order, assay::TeamReport& report) {
        serve(s, logs, order, report);
      })) {
    s.add_exact("served", "", assay::Better::higher, 1);  // nobody reads a member's own result
    return;
  }
  const double begin = assay::host_us();
  assay::ProcessTeam team("launch/workers/processes/" + s.which().name, s.device().index,
                          kMostProcesses);
  const double started_us = assay::host_us() - begin;
  const auto work_ns = static_cast<std::uint32_t>(s.i64("work_ns"));
  int overlapping = 0;
  const auto measure = [&](int count) {
    assay::TeamOrder order{.members = static_cast<std::uint32_t>(count),
                           .queued = kQueued,
                           .work_ns = work_ns,
                           .run_us = kRunUs};
    const Together queued = together(s, team.run(order));
    order.queued = 1;
    const Together single = together(s, team.run(order));
    assay::WorkerPoint point{.kernels_per_s = 1e6 * queued.tasks / queued.us,
                             .latency_us = assay::median(single.latencies_us),
                             .slow_latency_us = assay::quantile(single.latencies_us, 0.99),
                             .seen = assay::look_at(queued.logs, 2 * work_ns)};
    overlapping = std::max(overlapping, point.seen.concurrent_most);
    return point;
  };
  sweep_workers(s, {1, 2, 4, 8, static_cast<int>(kMostProcesses)}, kRounds, measure);
  s.set_param("sharing", overlapping > 1 ? "concurrent" : "time-sliced");
  s.add_exact("start_us_per_process", "us", assay::Better::lower, started_us / kMostProcesses);
}

const assay::Registration registration{{
    .name = "launch/workers/processes",
    .question = "How many small kernels a second, and how fast each, from so many processes?",
    .cases = {{.name = "5us",
               .params = {{"workers", "processes"}, {"work_ns", 5'000}},
               .suite = assay::Suite::full}},
    .pace = assay::Pace::host,
    .kernels =
        [](const assay::Case&, assay::Target) {
          return std::vector<assay::KernelUse>{
              {.kernel = "task", .sass = {{"ATOMG|ATOM", 1, 1, assay::SassWhere::kernel}}}};
        },
    .run = run,
}};

}  // namespace

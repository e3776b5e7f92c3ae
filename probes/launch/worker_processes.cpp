// SPDX-License-Identifier: Apache-2.0
// Many small workers, each a process of its own: this program, started again for each.
//
// Without the Multi-Process Service (MPS) the GPU gives each process a slice of time in turn, so
// kernels of two processes never run at once; through it they may. launch/workers/mps starts its
// daemon for the time of the case; launch/workers/processes takes the machine as it is. Which of
// the two it was is read off the times at which the kernels ran, and stands in the parameter
// `sharing`.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/device.hpp"
#include "harness/error.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/clock.hpp"
#include "probes/launch/mps_daemon.hpp"
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
  report.launching_us = 0;
  report.begin_us = assay::host_us();
  double now = report.begin_us;
  while (now - report.begin_us < order.run_us) {
    const double begin = now;
    for (std::uint32_t i = 0; i < order.queued; ++i) logs.launch(0, order.work_ns, stream);
    report.launching_us += assay::host_us() - begin;
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
  double us = 0;            // from the first one's begin to the last one's end
  double launching_us = 0;  // of the one that took longest
  double launch_us = 0;     // one such call of it
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
    if (report.launching_us > all.launching_us) {
      all.launching_us = report.launching_us;
      all.launch_us = report.launching_us / report.tasks;
    }
    all.logs.push_back(report.log);
    all.latencies_us.insert(all.latencies_us.end(), report.latency_us,
                            report.latency_us + report.latencies);
  }
  all.us = end - begin;
  return all;
}

// The processes of this case, and the daemon between them and the GPU, if it is to be one.
class Workers {
 public:
  Workers(assay::State& s, bool mps) {
    const std::string name = fmt::format("launch/workers/{}/{}", s.text("workers"), s.which().name);
    if (!mps) {
      team_.emplace(name, s.device().index, kMostProcesses);
      return;
    }
    try {
      cudaDeviceProp properties{};
      assay::check(cudaGetDeviceProperties(&properties, s.device().index));
      daemon_.emplace(assay::gpu_uuid(properties.uuid.bytes));
      team_.emplace(name, 0, kMostProcesses, daemon_->environment());
    } catch (const assay::Error& error) {
      s.skip(fmt::format("no Multi-Process Service: {}", error.what()));
    }
    if (!daemon_->used()) s.skip("no Multi-Process Service: the processes did not connect to it");
  }
  assay::ProcessTeam& team() { return *team_; }

 private:
  std::optional<assay::MpsDaemon> daemon_ = {};
  std::optional<assay::ProcessTeam> team_ = {};  // ends before the daemon does
};

void run(assay::State& s) {
  assay::WorkerLogs logs(s, 1);
  if (assay::serve_team([&](const assay::TeamOrder& order, assay::TeamReport& report) {
        serve(s, logs, order, report);
      })) {
    s.skip("this process only works for another's case");
  }
  const double begin = assay::host_us();
  Workers workers(s, s.text("workers") == "mps");
  assay::ProcessTeam& team = workers.team();
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
                             .launching_share = queued.launching_us / queued.us,
                             .launch_us = queued.launch_us,
                             .seen = assay::look_at(queued.logs, 2 * work_ns)};
    overlapping = std::max(overlapping, point.seen.concurrent_most);
    return point;
  };
  sweep_workers(s, {1, 2, 4, 8, static_cast<int>(kMostProcesses)}, kRounds, measure);
  s.set_param("sharing", overlapping > 1 ? "concurrent" : "time-sliced");
  s.add_exact("start_us_per_process", "us", assay::Better::lower, started_us / kMostProcesses);
}

assay::Probe probe(const char* workers, const char* question) {
  std::vector<assay::MetricNote> metrics = assay::worker_metrics();
  metrics.push_back({"start_us_per_process",
                     "Time to start all processes until they are ready, over their number."});
  return {
      .name = fmt::format("launch/workers/{}", workers),
      .question = question,
      .metrics = std::move(metrics),
      .cases = {{.name = "5us",
                 .params = {{"workers", workers}, {"work_ns", 5'000}},
                 .suite = assay::Suite::full}},
      .pace = assay::Pace::host,
      .kernels =
          [](const assay::Case&, assay::Target) {
            return std::vector<assay::KernelUse>{
                {.kernel = "task", .sass = {{"ATOMG|ATOM", 1, 1, assay::SassWhere::kernel}}}};
          },
      .run = run,
  };
}

const assay::Registration processes{
    probe("processes",
          "How many small kernels run in a second from several processes, and how long does each "
          "take?")};
const assay::Registration mps{probe(
    "mps",
    "How many small kernels run in a second from several processes that share the GPU through "
    "the Multi-Process Service, and how long does each take?")};

}  // namespace

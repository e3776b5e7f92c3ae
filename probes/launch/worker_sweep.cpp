// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/worker_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "harness/callable.hpp"
#include "harness/statistics.hpp"
#include "probes/launch/saturation.hpp"

namespace assay {

double quantile(std::vector<double> values, double share) {
  const auto index =
      static_cast<std::ptrdiff_t>(std::lround(share * static_cast<double>(values.size() - 1)));
  std::ranges::nth_element(values, values.begin() + index);
  return values[static_cast<std::size_t>(index)];
}

std::vector<MetricNote> worker_metrics() {
  return {
      {"kernels_per_s",
       "Kernels in a second with work queued; the figure is at the best number of workers."},
      {"kernels_per_s_alone", "Kernels in a second of one worker with work queued."},
      {"workers_at_95_percent", "Workers that it takes for 95% of the highest rate."},
      {"workers_at_peak", "Workers at which the rate is highest."},
      {"latency_us",
       "Median latency of a kernel while each worker has no more than one, by workers."},
      {"latency_us_p99",
       "The 99th percentile of a kernel's latency while each worker has no more than one, by "
       "workers."},
      {"latency_us_alone", "Latency of a kernel of a single worker."},
      {"latency_us_at_95_percent",
       "Latency of a kernel with as many workers as reach 95% of the highest rate."},
      {"latency_us_per_worker", "Latency that each further worker adds for all."},
      {"concurrent_kernels", "Most kernels that ran at one moment."},
      {"concurrent_kernels_mean", "Kernels that ran at a moment, on average, by workers."},
      {"sms_used", "SMs that any of the kernels ran on, by workers."},
      {"launching_share",
       "Share of the time that the busiest thread spends in launch calls; the figure is at the "
       "highest rate."},
      {"cpu_us", "CPU time of one launch of a kernel or of a graph, at the highest rate."},
  };
}

void sweep_workers(State& s, const std::vector<int>& counts, int rounds,
                   const Callable<WorkerPoint(int workers)>& measure) {
  const std::size_t n = counts.size();
  std::vector<std::vector<WorkerPoint>> found(n);  // by count, then round
  for (int round = -1; round < rounds; ++round)
    for (std::size_t i = 0; i < n; ++i) {
      const WorkerPoint point = measure(counts[i]);
      s.require(point.seen.in_order, "a worker's task began before the one before it had ended");
      if (round >= 0) found[i].push_back(point);  // the first one warms up
    }

  const auto over_rounds = [&](std::size_t i, auto&& of) {
    std::vector<double> values;
    for (const WorkerPoint& point : found[i]) values.push_back(of(point));
    return values;
  };
  Axis axis{"workers", {}};
  for (const int count : counts) axis.points.emplace_back(std::int64_t{count});
  const auto add_series = [&](const char* name, const char* unit, auto&& of) {
    Series series{name, unit, {axis}, {}};
    for (std::size_t i = 0; i < n; ++i) series.add(estimate(over_rounds(i, of)));
    if (std::ranges::max(series.values) > 0) s.add_series(series);  // else nobody measured it
    return series.values;
  };
  const auto rate = [](const WorkerPoint& p) { return p.kernels_per_s; };
  const auto latency = [](const WorkerPoint& p) { return p.latency_us; };
  const std::vector<double> rates = add_series("kernels_per_s", "1/s", rate);
  add_series("latency_us", "us", latency);
  add_series("latency_us_p99", "us", [](const WorkerPoint& p) { return p.slow_latency_us; });
  add_series("concurrent_kernels", "",
             [](const WorkerPoint& p) { return double(p.seen.concurrent_most); });
  add_series("concurrent_kernels_mean", "",
             [](const WorkerPoint& p) { return p.seen.concurrent_mean; });
  add_series("sms_used", "", [](const WorkerPoint& p) { return double(p.seen.sms); });
  const auto launching = [](const WorkerPoint& p) { return p.launching_share; };
  const std::vector<double> shares = add_series("launching_share", "", launching);

  const std::vector<double> workers(counts.begin(), counts.end());
  std::vector<double> saturated;
  for (std::size_t round = 0; round < found[0].size(); ++round) {
    std::vector<double> of_round;
    for (std::size_t i = 0; i < n; ++i) of_round.push_back(found[i][round].kernels_per_s);
    saturated.push_back(saturation(workers, of_round, 0.95));
  }
  const auto best = static_cast<std::size_t>(std::ranges::max_element(rates) - rates.begin());
  const double knee = saturation(workers, rates, 0.95);
  const auto at_knee =
      static_cast<std::size_t>(std::ranges::lower_bound(workers, knee) - workers.begin());
  int most = 0;
  for (const auto& points : found)
    for (const WorkerPoint& point : points) most = std::max(most, point.seen.concurrent_most);
  s.add_metric("kernels_per_s", "1/s", Better::higher, over_rounds(best, rate));
  s.add_metric("kernels_per_s_alone", "1/s", Better::higher, over_rounds(0, rate));
  s.add_metric("workers_at_95_percent", "", Better::higher, saturated);
  s.add_metric("latency_us_alone", "us", Better::lower, over_rounds(0, latency));
  s.add_metric("latency_us_at_95_percent", "us", Better::lower, over_rounds(at_knee, latency));
  // What each further worker adds to everyone's latency: much where they take turns.
  s.add_metric("latency_us_per_worker", "us", Better::lower, [&] {
    std::vector<double> first = over_rounds(0, latency), last = over_rounds(n - 1, latency);
    for (std::size_t round = 0; round < last.size(); ++round)
      last[round] = (last[round] - first[round]) / (workers[n - 1] - workers[0]);
    return last;
  }());
  s.add_metric("launching_share", "", Better::lower, over_rounds(best, launching));
  s.add_metric("cpu_us", "us", Better::lower,
               over_rounds(best, [](const WorkerPoint& p) { return p.launch_us; }));
  s.set_param("bound_by", std::string(bound_of(workers, rates, shares[best])));
  s.add_exact("workers_at_peak", "", Better::higher, workers[best]);
  s.add_exact("concurrent_kernels", "", Better::higher, most);
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// A sweep over the number of small workers: throughput, latency and how many tasks ran at once.
#pragma once
#include <vector>

#include "harness/callable.hpp"
#include "harness/state.hpp"
#include "probes/launch/worker_task.hpp"

namespace assay {

// What so many workers did in one round.
struct WorkerPoint {
  double kernels_per_s = 0;    // with work queued at each worker
  double latency_us = 0;       // of one task, while every worker has no more than one
  double slow_latency_us = 0;  // the 99th percentile of it; 0 where there are too few
  double launching_share = 0;  // of the first figure's time, the slowest thread's launch calls
  double launch_us = 0;        // one such call, of a kernel or of a graph
  WorkersSeen seen;            // of the first figure's tasks
};

// Measures round after round, so that each figure of each round comes to an interval, and adds the
// metrics and series of worker_metrics() and the parameter bound_by, see bound_of().
void sweep_workers(State& s, const std::vector<int>& counts, int rounds,
                   const Callable<WorkerPoint(int workers)>& measure);

std::vector<MetricNote> worker_metrics();

// Value at `share` of sorted order, 0 to 1. Precondition: not empty.
double quantile(std::vector<double> values, double share);

}  // namespace assay

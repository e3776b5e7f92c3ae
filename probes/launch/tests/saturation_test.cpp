// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/saturation.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "probes/launch/worker_sweep.hpp"

namespace assay {
namespace {

TEST(Saturation, LiesBetweenTheMeasuredPoints) {
  const std::vector<double> workers = {1, 2, 4, 8, 16}, rates = {10, 20, 40, 100, 100};
  EXPECT_DOUBLE_EQ(saturation(workers, rates, 0.95), 4 + 4 * 55 / 60.0);
  EXPECT_DOUBLE_EQ(saturation(workers, rates, 0.40), 4);
  EXPECT_DOUBLE_EQ(saturation(workers, rates, 1), 8);
}

TEST(Saturation, OfWhatOneWorkerFillsIsOne) {
  const std::vector<double> workers = {1, 2, 4}, rates = {99, 100, 60};
  EXPECT_DOUBLE_EQ(saturation(workers, rates, 0.95), 1);
}

TEST(Saturation, IsWhereTheCurveFirstReachesIt) {
  const std::vector<double> workers = {1, 2, 3, 4}, rates = {50, 96, 80, 100};
  EXPECT_DOUBLE_EQ(saturation(workers, rates, 0.95), 1 + 45 / 46.0);
}

TEST(BoundOf, TellsTheCpuTheWorkersAndTheGpuApart) {
  const std::vector<double> workers = {1, 2, 4}, rising = {10, 20, 37}, flat = {10, 20, 21},
                            falling = {10, 5, 5};
  EXPECT_EQ(bound_of(workers, rising, 0.95), "launch calls");
  EXPECT_EQ(bound_of(workers, rising, 0.5), "workers");
  EXPECT_EQ(bound_of(workers, flat, 0.5), "GPU queues");
  EXPECT_EQ(bound_of(workers, falling, 0.5), "GPU queues");
}

TEST(Quantile, IsOneOfTheValues) {
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 0.5), 3);
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 1), 5);
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 0), 1);
  EXPECT_EQ(quantile({7}, 0.99), 7);
}

WorkerLog log_of(std::vector<TimeSpan> spans, std::uint32_t sm) {
  WorkerLog log{};
  for (const TimeSpan& span : spans) {
    log.spans[log.tasks] = span;
    log.sms[log.tasks++] = sm;
  }
  return log;
}

TEST(LookAt, TellsWhatRanSideBySide) {
  const std::vector<WorkerLog> logs = {log_of({{0, 1000}, {1000, 2000}}, 3),
                                       log_of({{500, 1500}, {2500, 3000}}, 7)};
  const WorkersSeen seen = look_at(logs);
  EXPECT_EQ(seen.tasks, 4u);
  EXPECT_EQ(seen.concurrent_most, 2);
  EXPECT_EQ(seen.sms, 2);
  EXPECT_TRUE(seen.in_order);
  EXPECT_DOUBLE_EQ(seen.concurrent_mean, 3500 / 2500.0);
}

TEST(LookAt, SeesATaskThatDidNotWaitForItsPredecessor) {
  const std::vector<WorkerLog> logs = {log_of({{0, 1000}, {900, 2000}}, 0)};
  EXPECT_FALSE(look_at(logs).in_order);
}

TEST(LookAt, DoesNotTakeAnInterruptedTaskForAConcurrentOne) {
  const std::vector<WorkerLog> logs = {log_of({{0, 9000}}, 0), log_of({{2000, 3000}}, 0)};
  EXPECT_EQ(look_at(logs).concurrent_most, 2);
  EXPECT_EQ(look_at(logs, 2000).concurrent_most, 1);
}

TEST(LookAt, CountsTasksBeyondWhatTheLogHolds) {
  WorkerLog log{};
  log.tasks = WorkerLog::kSpans + 100;
  for (std::uint32_t i = 0; i < WorkerLog::kSpans; ++i) log.spans[i] = {i * 1000, i * 1000 + 500};
  const WorkersSeen seen = look_at(std::vector{log});
  EXPECT_EQ(seen.tasks, WorkerLog::kSpans + 100);
  EXPECT_EQ(seen.concurrent_most, 1);
}

}  // namespace
}  // namespace assay

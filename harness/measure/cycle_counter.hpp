// SPDX-License-Identifier: Apache-2.0
// Launches of a kernel whose CTAs leave stopwatch records, read back per SM.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "harness/callable.hpp"
#include "harness/measure/state_impl.hpp"
#include "harness/ptx/stopwatch.cuh"

namespace assay {

// As CTAs saw it: on each SM from the first start to the last stop there.
struct PerSm {
  std::map<int, double> cycles, ns;
};

// Throws Error(failed) where a clock ran backwards. CTAs that left no record have zeros.
PerSm per_sm(const std::vector<StopwatchRecord>& records);

std::vector<double> values_of(const std::map<int, double>& by_sm);

class CycleCounter {
 public:
  using Launchable = Callable<void(const Launch&)>;
  struct Reading {
    PerSm sm;
    double ns;  // by events
  };

  // Both outlive the counter.
  CycleCounter(GpuContext& gpu, const Launchable& launch);

  void launch(std::int64_t iterations) const;
  Reading run(std::int64_t iterations);
  // How many iterations take about `wanted_cycles`. Throws Error(failed) if no CTA left a record.
  std::int64_t iterations_for(double wanted_cycles);

  // What one iteration takes on each SM, from runs of n and of 2n: what is not in the loop cancels.
  // Throws Error(failed) if the runs shared no SM.
  static PerSm difference(const Reading& once, const Reading& twice, std::int64_t n);

 private:
  GpuContext& gpu_;
  const Launchable& launch_;
  Buffer records_;
  std::vector<StopwatchRecord> host_;
  Event begin_, end_;
};

}  // namespace assay

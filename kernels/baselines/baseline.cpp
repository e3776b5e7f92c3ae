// SPDX-License-Identifier: Apache-2.0
#include "kernels/baselines/baseline.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/callable.hpp"
#include "harness/cuda.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/statistics.hpp"

namespace assay::kernels {

// How long the stream is kept busy while events and work are enqueued.
constexpr std::uint64_t kEnqueueNs = 40'000;

LaunchTimer event_timer(cudaStream_t stream) {
  const auto begin = std::make_shared<Event>(), end = std::make_shared<Event>();
  return [=](const Callable<void(cudaStream_t)>& enqueue) {
    delay(kEnqueueNs, stream);
    begin->record(stream);
    enqueue(stream);
    end->record(stream);
    return elapsed_ns(*begin, *end);
  };
}

int find_best(const Baseline& baseline, int sets, int rounds, const LaunchTimer& nanoseconds) {
  constexpr int kTrial = 3;  // rounds of all
  struct Runner {
    int candidate;
    std::vector<double> times = {};
    double median = 0;
  };
  std::vector<Runner> runners;
  for (int i = 0; i < baseline.candidates(); ++i) runners.push_back({.candidate = i});
  const auto rank = [&] {
    for (Runner& runner : runners) runner.median = median(runner.times);
    return std::ranges::min_element(runners, {}, &Runner::median);
  };
  for (int round = -1; round < rounds; ++round) {  // round -1 loads the kernels
    if (round == kTrial) {
      const double slowest = 1.1 * rank()->median;
      std::erase_if(runners, [&](const Runner& runner) { return runner.median > slowest; });
    }
    for (Runner& runner : runners) {
      const int set = (round + 1 + runner.candidate) % sets;
      const double time =
          nanoseconds([&](cudaStream_t stream) { baseline.run(runner.candidate, set, stream); });
      if (round >= 0) runner.times.push_back(time);
    }
  }
  return rank()->candidate;
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/baselines/baseline.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "harness/callable.hpp"
#include "harness/measure/busy_timer.hpp"
#include "harness/statistics.hpp"

namespace assay::kernels {

LaunchTimer event_timer(cudaStream_t stream, int calls) {
  const auto timer = std::make_shared<BusyTimer>();
  return [=](const Callable<void(cudaStream_t)>& enqueue) {
    const double ns = timer->nanoseconds(stream, [&] {
      for (int call = 0; call < calls; ++call) enqueue(stream);
    });
    return ns / calls;
  };
}

int find_best(const Baseline& baseline, int sets, int rounds, const LaunchTimer& nanoseconds,
              const Callable<void()>& pause) {
  constexpr int kTrial = 3;  // rounds of all
  constexpr std::size_t kFinalists = 8;
  struct Runner {
    int candidate;
    std::vector<double> times = {};
    double median = 0;
  };
  std::vector<Runner> runners;
  for (int i = 0; i < baseline.candidates(); ++i) runners.push_back({.candidate = i});
  const auto rank = [&] {
    for (Runner& runner : runners) runner.median = median(runner.times);
    std::ranges::stable_sort(runners, {}, &Runner::median);
  };
  int turn = 0;  // each has the next set: on that of the turn before it would find its inputs in L2
  for (int round = -1; round < rounds; ++round) {  // round -1 loads the kernels
    if (round == kTrial) {
      rank();
      const double slowest = 1.2 * runners.front().median;
      std::erase_if(runners, [&](const Runner& runner) { return runner.median > slowest; });
      if (runners.size() > kFinalists) runners.resize(kFinalists);
      if (pause)
        for (Runner& runner : runners) runner.times.clear();
    }
    if (pause && round >= kTrial) pause();
    for (Runner& runner : runners) {
      const double time = nanoseconds(
          [&](cudaStream_t stream) { baseline.run(runner.candidate, turn++ % sets, stream); });
      if (round >= 0) runner.times.push_back(time);
    }
  }
  rank();
  return runners.front().candidate;
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/baselines/baseline.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "harness/callable.hpp"
#include "harness/cuda.hpp"
#include "harness/statistics.hpp"

namespace assay::kernels {

LaunchTimer event_timer(cudaStream_t stream) {
  const auto begin = std::make_shared<Event>(), end = std::make_shared<Event>();
  return [=](const Callable<void(cudaStream_t)>& enqueue) {
    begin->record(stream);
    enqueue(stream);
    end->record(stream);
    return elapsed_ns(*begin, *end);
  };
}

int find_best(const Baseline& baseline, int sets, int rounds, const LaunchTimer& nanoseconds) {
  std::vector<std::vector<double>> times(static_cast<std::size_t>(baseline.candidates()));
  for (int round = -1; round < rounds; ++round) {  // round -1 loads the kernels
    for (int i = 0; i < baseline.candidates(); ++i) {
      const double time = nanoseconds(
          [&](cudaStream_t stream) { baseline.run(i, (round + 1 + i) % sets, stream); });
      if (round >= 0) times[static_cast<std::size_t>(i)].push_back(time);
    }
  }
  const auto best = std::ranges::min_element(
      times, {}, [](const std::vector<double>& samples) { return median(samples); });
  return static_cast<int>(best - times.begin());
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// Where a curve of throughput over the number of workers becomes flat, and why.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace assay {

// The number of workers, between those measured by interpolation, at which the rate first reaches
// `share` of its maximum. `workers` ascends; both have the same length, at least 1.
inline double saturation(std::span<const double> workers, std::span<const double> rates,
                         double share) {
  const double wanted = share * *std::ranges::max_element(rates);
  std::size_t i = 0;
  while (rates[i] < wanted) ++i;
  if (i == 0) return workers[0];
  const double part = (wanted - rates[i - 1]) / (rates[i] - rates[i - 1]);
  return workers[i - 1] + part * (workers[i] - workers[i - 1]);
}

// What keeps the highest rate of a curve from being higher. `launching_share` is the share of the
// time that the CPU's threads spend in calls that launch, there; arrays as above.
//   "launch calls"  they do little else: a faster GPU would change nothing
//   "workers"       there are no more of them, and each has about what it has alone
//   "GPU queues"    neither: the GPU, or its queues, which workers share, take no more
inline std::string_view bound_of(std::span<const double> workers, std::span<const double> rates,
                                 double launching_share) {
  constexpr double kAbout = 0.9;
  const auto best = std::ranges::max_element(rates) - rates.begin();
  if (launching_share >= kAbout) return "launch calls";
  const bool most = best + 1 == std::ssize(rates);
  const double expected = rates.front() * workers.back() / workers.front();
  return most && rates.back() >= kAbout * expected ? "workers" : "GPU queues";
}

}  // namespace assay

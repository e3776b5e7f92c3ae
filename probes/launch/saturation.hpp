// SPDX-License-Identifier: Apache-2.0
// Where a curve of throughput over the number of workers becomes flat.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

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

}  // namespace assay

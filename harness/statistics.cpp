// SPDX-License-Identifier: Apache-2.0
#include "harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace assay {

double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  const std::size_t middle = sorted.size() / 2;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(middle));
  const double upper = sorted[middle];
  if (sorted.size() % 2 == 1) return upper;
  return 0.5 *
         (*std::max_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(middle)) +
          upper);
}

Interval median_interval(std::span<const double> values, double confidence) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const int n = static_cast<int>(sorted.size());
  // Largest k with 2 P(binomial(n, 1/2) <= k) <= 1 - confidence: the interval is then
  // [x(k+1), x(n-k)] in 1-based order statistics. Terms are summed in logarithms: 2^-n underflows.
  double tail = 0;
  int k = -1;
  for (int i = 0; 2 * i < n; ++i) {
    tail += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) -
                     n * std::log(2.0));
    if (2 * tail > 1 - confidence) break;
    k = i;
  }
  k = std::max(k, 0);
  return {sorted[static_cast<std::size_t>(k)], sorted[static_cast<std::size_t>(n - 1 - k)]};
}

Estimate estimate(std::span<const double> values) {
  constexpr std::size_t kFewest = 6;
  const double middle = median(values);
  if (values.size() < kFewest) return middle;
  const auto [low, high] = median_interval(values);
  return {middle, low, high};
}

double relative_half_width(std::span<const double> values, double confidence) {
  const auto [low, high] = median_interval(values, confidence);
  if (high == low) return 0;
  const double middle = std::abs(median(values));
  return middle > 0 ? 0.5 * (high - low) / middle : std::numeric_limits<double>::infinity();
}

std::vector<double> ratios(std::span<const double> a, std::span<const double> b) {
  std::vector<double> result(a.size());
  std::ranges::transform(a, b, result.begin(), std::divides<>());
  return result;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// Whether a set of readings is two groups, and where they part.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace assay {

struct TwoClusters {
  double boundary;   // readings below it are of the lower group
  double low, high;  // means of the groups
};

// Parts `readings` where the squared distances to the two groups' means are least (k-means for
// k = 2, exactly, by trying every cut of the sorted readings). Nothing if they are one group: the
// means must lie 4 pooled standard deviations apart (a half of a uniform distribution each gives
// 3.5, of a normal one 2.7), and each group must hold an eighth of the readings.
inline std::optional<TwoClusters> two_clusters(std::span<const double> readings) {
  std::vector<double> sorted(readings.begin(), readings.end());
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size(), least = std::max<std::size_t>(n / 8, 1);
  double sum = 0, squares = 0;
  for (const double x : sorted) sum += x, squares += x * x;
  double low_sum = 0, best_spread = INFINITY;
  std::optional<TwoClusters> best;
  for (std::size_t cut = 1; cut < n; ++cut) {
    low_sum += sorted[cut - 1];
    if (cut < least || n - cut < least) continue;
    const double low = low_sum / static_cast<double>(cut);
    const double high = (sum - low_sum) / static_cast<double>(n - cut);
    const double spread = squares - low_sum * low - (sum - low_sum) * high;
    if (spread >= best_spread) continue;
    best_spread = spread;
    best = {(sorted[cut - 1] + sorted[cut]) / 2, low, high};
  }
  if (!best) return std::nullopt;
  const double deviation = std::sqrt(std::max(best_spread, 0.0) / static_cast<double>(n));
  if (best->high - best->low <= 4 * deviation || best->high <= best->low) return std::nullopt;
  return best;
}

}  // namespace assay

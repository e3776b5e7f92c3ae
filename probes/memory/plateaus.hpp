// SPDX-License-Identifier: Apache-2.0
// The plateaus of a latency curve: where each ends is the capacity of one level of the memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace assay {

// Points first .. last of a curve, at one level.
struct Plateau {
  std::size_t first, last;
  double level;  // median of its values
};

// Parts a curve of positive values into runs of at least `least` points in which no value is more
// than `tolerance` above the smallest, greedily from the left. Runs whose levels are that near
// become one if nothing lies between them. What is in no run is a slope from one level to the next.
inline std::vector<Plateau> plateaus(std::span<const double> values, double tolerance = 0.05,
                                     std::size_t least = 3) {
  const auto level = [&](std::size_t first, std::size_t last) {
    std::vector<double> run(values.begin() + static_cast<std::ptrdiff_t>(first),
                            values.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    std::ranges::nth_element(run, run.begin() + static_cast<std::ptrdiff_t>(run.size() / 2));
    return run[run.size() / 2];
  };
  std::vector<Plateau> found;
  for (std::size_t first = 0; first < values.size();) {
    double low = values[first], high = low;
    std::size_t end = first + 1;
    for (; end < values.size(); ++end) {
      low = std::min(low, values[end]);
      high = std::max(high, values[end]);
      if (high > low * (1 + tolerance)) break;
    }
    if (end - first < least) {
      ++first;
      continue;
    }
    const Plateau next{first, end - 1, level(first, end - 1)};
    const bool adjacent = !found.empty() && found.back().last + 1 == first;
    if (adjacent && next.level <= found.back().level * (1 + tolerance) &&
        found.back().level <= next.level * (1 + tolerance))
      found.back() = {found.back().first, next.last, level(found.back().first, next.last)};
    else
      found.push_back(next);
    first = end;
  }
  return found;
}

}  // namespace assay

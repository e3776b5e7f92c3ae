// SPDX-License-Identifier: Apache-2.0
// The knee of a curve that rises to a plateau: where it first comes near its best.
#pragma once
#include <cmath>
#include <cstddef>
#include <span>

namespace assay {

// The smallest place at which the curve reaches `share` of its largest value, on the straight line
// between the points on either side. Places rise; NaN values are left out; NaN if all are.
inline double knee(std::span<const double> places, std::span<const double> values,
                   double share = 0.95) {
  double most = NAN;
  for (const double value : values) most = std::fmax(most, value);
  const double wanted = share * most;
  double before_place = NAN, before = NAN;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    if (values[i] >= wanted) {
      if (std::isnan(before)) return places[i];
      return before_place + (places[i] - before_place) * (wanted - before) / (values[i] - before);
    }
    before_place = places[i];
    before = values[i];
  }
  return NAN;
}

}  // namespace assay

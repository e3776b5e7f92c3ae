// SPDX-License-Identifier: Apache-2.0
// Whether events come at regular intervals, and at which.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <span>
#include <vector>

namespace assay {

struct Period {
  double length = 0;    // in the unit of the times
  double strength = 0;  // 0 for none at all to 1 for perfectly regular
  // That times at random would be as regular at any of the periods tried: exp(-n strength^2) for
  // each of them (the Rayleigh test), taken as if they were independent, which is an upper bound.
  double chance = 1;
};

// |mean of exp(2 pi i t / length)|, Rayleigh's measure: 1 if all times are at one phase.
inline double alignment(std::span<const double> times, double length) {
  std::complex<double> sum = 0;
  for (const double t : times) sum += std::polar(1.0, 2 * std::numbers::pi * t / length);
  return times.empty() ? 0 : std::abs(sum) / static_cast<double>(times.size());
}

// The period between `least` and `most` at which ascending times are most aligned. Events at
// intervals of T are as regular for T / 2, T / 3, ...: of periods within a tenth of the strongest,
// the longest. Frequencies are tried at a quarter of the resolution that the times' span gives.
inline Period strongest_period(std::span<const double> times, double least, double most) {
  Period best;
  if (times.size() < 8) return best;
  const double step = 1 / (4 * (times.back() - times.front()));
  std::vector<Period> tried;
  for (double frequency = 1 / most; frequency <= 1 / least; frequency += step) {
    const double length = 1 / frequency;
    tried.push_back({length, alignment(times, length)});
    if (tried.back().strength > best.strength) best = tried.back();
  }
  // From the longest on: the first near the strongest, at the top of its peak.
  for (std::size_t i = 0; i < tried.size(); ++i)
    if (tried[i].strength >= 0.9 * best.strength) {
      while (i + 1 < tried.size() && tried[i + 1].strength > tried[i].strength) ++i;
      const double n = static_cast<double>(times.size()), strength = tried[i].strength;
      tried[i].chance =
          std::min(1., static_cast<double>(tried.size()) * std::exp(-n * strength * strength));
      return tried[i];
    }
  return best;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// Which level of the memory a plateau of a latency curve is.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "probes/memory/plateaus.hpp"

namespace assay {

// A footprint up to this many bytes may be in an L1.
inline constexpr std::uint64_t kMayBeInL1 = 1 << 20;

// The plateaus of cycles over footprints (in bytes, ascending) that a name is known for: "l1", the
// first that ends before anything an L1 holds; "l2_near", the first that ends before L2 is full,
// where all lines are had from the SM's own partition; "l2", a second such, a tenth or more above
// it; and "dram", the last that begins where L2 is about full, if the curve ends on it. A first
// plateau that is no faster than L2, as of loads that L1 does not serve, is none of an L1.
inline std::vector<std::pair<std::string, Plateau>> named_levels(
    std::span<const std::uint64_t> footprints, std::span<const double> cycles,
    std::uint64_t l2_bytes) {
  std::vector<std::pair<std::string, Plateau>> named;
  const auto full = static_cast<double>(l2_bytes);
  const auto has = [&](const char* name) { return !named.empty() && named.back().first == name; };
  for (const Plateau& plateau : plateaus(cycles)) {
    const auto first = static_cast<double>(footprints[plateau.first]);
    const auto last = static_cast<double>(footprints[plateau.last]);
    if (last < static_cast<double>(kMayBeInL1)) {
      if (named.empty()) named.emplace_back("l1", plateau);
    } else if (first < 0.8 * full && last < 1.5 * full) {
      if (has("l1") && plateau.level < 1.1 * named.back().second.level) named.pop_back();
      if (named.empty() || has("l1"))
        named.emplace_back("l2_near", plateau);
      else if (has("l2_near") && plateau.level > 1.1 * named.back().second.level)
        named.emplace_back("l2", plateau);
    } else if (plateau.last + 1 == footprints.size()) {
      named.emplace_back("dram", plateau);
    }
  }
  return named;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// What a curve of latencies over pages says of TLBs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "probes/memory/plateaus.hpp"

namespace assay {

struct TlbCurve {
  std::vector<Plateau> levels;
  // The last point on the last plateau that ends before the curve does: what the TLB of that level
  // reaches. None where the curve ends on its only plateau: every TLB that was left reached on, and
  // of a miss nothing was seen.
  std::optional<std::size_t> reached;
  // Cycles from the first plateau to the worst point.
  double worst = 0;
};

inline TlbCurve tlb_curve(std::span<const double> cycles) {
  // Some dozen lines are nearer or farther by chance, by 5%, which no TLB is the cause of.
  constexpr double kChance = 0.06;
  TlbCurve found{.levels = plateaus(cycles, kChance), .reached = {}};
  for (const Plateau& level : found.levels)
    if (level.last + 1 < cycles.size()) found.reached = level.last;
  if (!found.levels.empty()) found.worst = std::ranges::max(cycles) - found.levels.front().level;
  return found;
}

}  // namespace assay

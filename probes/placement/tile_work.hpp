// SPDX-License-Identifier: Apache-2.0
// Work by the tile, and what of a GPU's time it fills.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace assay {

// One turn of a tile's work: a linear congruential generator (Numerical Recipes' constants), whose
// result proves how many turns were done.
inline constexpr std::uint32_t kTileFactor = 1664525, kTileTerm = 1013904223;
inline std::uint32_t tile_result(std::uint32_t tile, std::uint32_t turns) {
  std::uint32_t value = tile;
  for (std::uint32_t i = 0; i < turns; ++i) value = value * kTileFactor + kTileTerm;
  return value;
}

enum class TileCosts : std::uint8_t { equal, uneven, ramp };

// Turns of each tile, `mean` on average (about): all alike; one in eight four times as long as it
// would be and the others shorter, in random order; or from long to short like the rows of a causal
// mask begun at its end.
inline std::vector<std::uint32_t> tile_costs(TileCosts costs, std::size_t tiles, std::uint32_t mean,
                                             std::uint64_t seed) {
  std::vector<std::uint32_t> turns(tiles, mean);
  if (costs == TileCosts::uneven) {
    for (std::size_t i = 0; i < tiles; ++i) turns[i] = i % 8 ? mean * 4 / 7 : mean * 4;
    std::mt19937_64 random(seed);
    std::ranges::shuffle(turns, random);
  } else if (costs == TileCosts::ramp) {
    for (std::size_t i = 0; i < tiles; ++i)
      turns[i] = static_cast<std::uint32_t>(2.0 * mean * static_cast<double>(tiles - i) /
                                            static_cast<double>(tiles + 1)) +
                 1;
  }
  return turns;
}

// The least that any order of whole tiles can take on so many machines, in turns: the average of a
// machine, or the longest tile.
inline double least_turns(std::span<const std::uint32_t> turns, int machines) {
  const double sum = std::accumulate(turns.begin(), turns.end(), 0.0);
  const std::uint32_t longest = turns.empty() ? 0 : *std::ranges::max_element(turns);
  return std::max(sum / machines, static_cast<double>(longest));
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// How caches come to hold what a walk round a ring leaves in them, sooner than by walking.
//
// A walk reads each place again after all others. So must what stands in for it: how long ago a
// place was read decides whether a cache still has it. Here kVisitLoads chains take neighbouring
// steps of the ring and all go on by kVisitLoads steps at a time. Places are then read in the order
// of the walk, but for the few loads that are under way at once. A ring cut into stretches that are
// read side by side would not do: a walk along one of them meets places that were read ever less
// long ago, on average half a round, and a cache of half the size seems to hold them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "harness/callable.hpp"

namespace assay {

inline constexpr int kVisitLoadsOfLane = 8, kVisitLoads = 32 * kVisitLoadsOfLane;

// Steps that each chain takes so that `rounds` times all of the ring, but no more than `most` of
// its places, are read.
constexpr std::uint64_t visit_steps(std::uint32_t count, std::uint64_t most, int rounds) {
  const std::uint64_t places = std::min<std::uint64_t>(count, most);
  return (places * static_cast<unsigned>(rounds) + kVisitLoads - 1) / kVisitLoads;
}

// The step of the ring at which a chain begins, so that the last step of the last chain is the one
// before `first`.
constexpr std::uint32_t visit_begin(std::uint32_t count, std::uint32_t first, std::uint64_t steps,
                                    std::uint32_t chain) {
  const std::uint64_t back = steps * kVisitLoads % count;
  return static_cast<std::uint32_t>((std::uint64_t{first} + count - back + chain) % count);
}

// A value, and after how many rounds two passes agreed on it: 0 if they never did.
struct Settled {
  double value = 0;
  int rounds = 0;
};

// Passes of all points that two passes do not yet agree on, each after twice as many rounds as the
// one before. `pass` is given these points and the rounds, and returns a value for each. Two agree
// within 3%: 8192 loads of which some take 30 cycles and others 280, or 280 and 700, leave 2% open.
inline std::vector<Settled> until_steady(
    std::size_t points,
    const Callable<std::vector<double>(const std::vector<std::size_t>&, int)>& pass) {
  constexpr int kFewestRounds = 2, kMostRounds = 16;
  constexpr double kAgree = 0.03;
  std::vector<Settled> found(points);
  std::vector<std::size_t> open(points);
  std::iota(open.begin(), open.end(), std::size_t{0});
  for (int rounds = kFewestRounds; rounds <= kMostRounds && !open.empty(); rounds *= 2) {
    const std::vector<double> values = pass(open, rounds);
    std::vector<std::size_t> still;
    for (std::size_t i = 0; i < open.size(); ++i) {
      Settled& point = found[open[i]];
      if (rounds > kFewestRounds && std::abs(values[i] - point.value) <= kAgree * point.value)
        point.rounds = rounds;
      else
        still.push_back(open[i]);
      point.value = values[i];
    }
    open = std::move(still);
  }
  return found;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// A fixed walk through all of 0 .. count-1 that looks random: the order of every pointer chase.
#pragma once
#include <cstdint>

namespace assay {

// The place visited after `place`; `count` is a power of two. A linear congruential generator of
// full period (Hull and Dobell, 1962: odd increment, multiplier 1 mod 4), so that each place comes
// once before any comes again and a CPU can say where a walk must end.
constexpr std::uint32_t successor(std::uint32_t place, std::uint32_t count) {
  return (place * 1664525u + 1013904223u) & (count - 1);
}

// Where `steps` steps from `start` lead.
constexpr std::uint32_t place_after(std::uint32_t start, std::uint64_t steps, std::uint32_t count) {
  std::uint32_t place = start;
  for (std::uint64_t left = steps % count; left; --left) place = successor(place, count);
  return place;
}

}  // namespace assay

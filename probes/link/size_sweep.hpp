// SPDX-License-Identifier: Apache-2.0
// Copies of 1 byte to 1 GiB: what one takes, and what many together reach.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "harness/callable.hpp"
#include "harness/state.hpp"

namespace assay {

inline constexpr std::int64_t kLargestCopy = std::int64_t{1} << 30;

// The bytes of a copy, between those measured by interpolation, from which on it gets half of the
// best bandwidth (Hockney's n 1/2). `bytes` ascends; both have the same length, at least 1.
inline double half_bandwidth_bytes(std::span<const double> bytes, std::span<const double> rates) {
  const double wanted = *std::ranges::max_element(rates) / 2;
  std::size_t i = 0;
  while (rates[i] < wanted) ++i;
  if (i == 0) return bytes[0];
  const double part = (wanted - rates[i - 1]) / (rates[i] - rates[i - 1]);
  return bytes[i - 1] + part * (bytes[i] - bytes[i - 1]);
}

struct SizedCopy {
  Callable<void(std::size_t bytes)> start;      // may return before the copy is done
  Callable<void()> finish;                      // waits for all that were started
  Callable<void(std::size_t bytes)> undo = {};  // before each, if a copy can be made only once
  Callable<void(std::size_t bytes)> check;      // throws unless the last copy was right
};

// Adds the curves and figures of size_sweep_metrics(), by the CPU's clock. The bandwidth is of as
// many copies back to back as make 256 MiB, at most 256.
void sweep_sizes(State& s, const SizedCopy& copy);
std::vector<MetricNote> size_sweep_metrics();

}  // namespace assay

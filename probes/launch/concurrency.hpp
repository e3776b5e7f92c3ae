// SPDX-License-Identifier: Apache-2.0
// How many spans of time overlap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay {

struct TimeSpan {
  std::uint64_t begin_ns, end_ns;
};

struct Concurrency {
  int most = 0;         // spans at one moment
  double mean = 0;      // while there is any
  double busy_ns = 0;   // during which there is any
  double whole_ns = 0;  // from the first begin to the last end
};

// A span that begins at the moment another ends does not overlap it. Spans that end where they
// begin count towards `most` only.
inline Concurrency concurrency(std::span<const TimeSpan> spans) {
  std::vector<std::pair<std::uint64_t, int>> edges;  // ends sort before begins of the same moment
  for (const TimeSpan& s : spans) {
    edges.emplace_back(s.begin_ns, 1);
    edges.emplace_back(std::max(s.end_ns, s.begin_ns + 1), -1);
  }
  std::ranges::sort(edges);
  Concurrency found;
  if (edges.empty()) return found;
  int now = 0;
  double sum_ns = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (now > 0) {
      const auto passed = static_cast<double>(edges[i].first - edges[i - 1].first);
      found.busy_ns += passed;
      sum_ns += passed * now;
    }
    now += edges[i].second;
    found.most = std::max(found.most, now);
  }
  found.whole_ns = static_cast<double>(edges.back().first - edges.front().first);
  found.mean = found.busy_ns > 0 ? sum_ns / found.busy_ns : 0;
  return found;
}

}  // namespace assay

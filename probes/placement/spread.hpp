// SPDX-License-Identifier: Apache-2.0
// Where the CTAs of a grid ran, and how evenly that is over the SMs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace assay {

// Left by each CTA of a grid, in the order of their indices. Times are %globaltimer's.
struct CtaPlace {
  std::uint64_t begin_ns, end_ns;
  std::uint32_t sm;
  std::uint32_t cluster, rank;  // which one of the grid, and which of its CTAs
  std::uint32_t cluster_size;
};

struct CtaSpread {
  std::size_t first_wave = 0;  // CTAs that began before the first one ended
  int sms_used = 0;            // by those
  int most_on_one_sm = 0;      // of those
  int least_on_one_sm = 0;     // of those, where there is any
};

// Indices of the CTAs that began before the first one ended: all that were resident at the start.
inline std::vector<std::size_t> first_wave(std::span<const CtaPlace> places) {
  std::uint64_t first_end = UINT64_MAX;
  for (const CtaPlace& p : places) first_end = std::min(first_end, p.end_ns);
  std::vector<std::size_t> wave;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i].begin_ns < first_end) wave.push_back(i);
  return wave;
}

inline CtaSpread spread_of(std::span<const CtaPlace> places) {
  std::map<std::uint32_t, int> on_sm;
  const std::vector<std::size_t> wave = first_wave(places);
  CtaSpread spread{.first_wave = wave.size()};
  for (const std::size_t i : wave)
    spread.most_on_one_sm = std::max(spread.most_on_one_sm, ++on_sm[places[i].sm]);
  spread.sms_used = static_cast<int>(on_sm.size());
  if (!on_sm.empty())
    spread.least_on_one_sm =
        std::ranges::min_element(on_sm, {}, [](const auto& sm) { return sm.second; })->second;
  return spread;
}

// Whether every SM holds its share of the first wave, rounded down or up: with as many CTAs as SMs,
// or fewer, one at most.
inline bool is_even(const CtaSpread& spread, int sm_count) {
  const auto sms = static_cast<std::size_t>(sm_count);
  const int least = spread.sms_used < sm_count ? 0 : spread.least_on_one_sm;
  return static_cast<std::size_t>(spread.most_on_one_sm) <= (spread.first_wave + sms - 1) / sms &&
         static_cast<std::size_t>(least) >= spread.first_wave / sms;
}

// Index of the first CTA on an SM that one of a lower index runs on: the number of SMs if the
// hardware spreads, 1 if it packs. The number of CTAs if there is none.
inline std::size_t first_doubled(std::span<const CtaPlace> places) {
  std::map<std::uint32_t, bool> taken;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!taken.emplace(places[i].sm, true).second) return i;
  return places.size();
}

// SMs whose first CTA, by index, comes after the one of index `cta`.
inline int sms_begun_after(std::span<const CtaPlace> places, std::size_t cta) {
  std::set<std::uint32_t> before, after;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i <= cta)
      before.insert(places[i].sm);
    else if (!before.contains(places[i].sm))
      after.insert(places[i].sm);
  }
  return static_cast<int>(after.size());
}

// The median length of runs of CTAs, by index, that are of one group, `group_of_sm` telling which;
// 0 if there are none.
inline int median_run(std::span<const CtaPlace> places, std::span<const int> group_of_sm) {
  std::vector<int> runs;
  int last = -1;
  for (const CtaPlace& p : places) {
    if (p.sm >= group_of_sm.size()) continue;
    const int group = group_of_sm[p.sm];
    if (runs.empty() || group != last) runs.push_back(0);
    ++runs.back();
    last = group;
  }
  if (runs.empty()) return 0;
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::ranges::nth_element(runs, middle);
  return *middle;
}

// Fraction of the CTAs that ran on the same SM both times.
inline double agreement(std::span<const CtaPlace> a, std::span<const CtaPlace> b) {
  const std::size_t n = std::min(a.size(), b.size());
  std::size_t same = 0;
  for (std::size_t i = 0; i < n; ++i) same += a[i].sm == b[i].sm;
  return n ? static_cast<double>(same) / static_cast<double>(n) : 0;
}

}  // namespace assay

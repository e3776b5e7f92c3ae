// SPDX-License-Identifier: Apache-2.0
// Vector clocks: they hold what a map from strand to time would, whatever they share.
#include "harness/model/check/clock.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace assay::model {
namespace {

using Expected = std::map<Component, std::uint32_t>;

void join(Expected& to, const Expected& from, bool asynchronous_alone) {
  for (const auto& [component, time] : from)
    if (!asynchronous_alone || (component & kAsynchronous) != 0)
      to[component] = std::max(to[component], time);
}

TEST(Clock, HoldsWhatAMapWould) {
  // Neighbours, those of other chunks, and far ones, so that there are gaps.
  std::vector<Component> components;
  for (const Component first : {0u, 255u, 256u, 1000u, 277'000u})
    for (const Component kind : {Component{0}, kAsynchronous})
      for (Component k = 0; k < 3; ++k) components.push_back((first + k) | kind);
  constexpr std::size_t kClocks = 6;
  std::mt19937 random(1);
  std::vector<Clock> clocks(kClocks);
  std::vector<Expected> expected(kClocks);
  for (int step = 0; step < 3000; ++step) {
    const std::size_t to = random() % kClocks, from = random() % kClocks;
    const unsigned what = random() % 8;
    if (what < 3) {
      const Epoch epoch{components[random() % components.size()],
                        static_cast<std::uint32_t>(1 + random() % 500)};
      clocks[to].raise(epoch);
      expected[to][epoch.component] = std::max(expected[to][epoch.component], epoch.time);
    } else if (what < 5) {
      clocks[to].join(clocks[from]);
      join(expected[to], expected[from], false);
    } else if (what < 6) {
      clocks[to].join_asynchronous(clocks[from]);
      join(expected[to], expected[from], true);
    } else if (what < 7) {
      clocks[to] = clocks[from];
      expected[to] = expected[from];
    } else if (random() % 8 == 0) {
      clocks[to] = {};
      expected[to] = {};
    }
    for (const Component component : components) {
      const auto found = expected[to].find(component);
      ASSERT_EQ(clocks[to].at(component), found == expected[to].end() ? 0 : found->second)
          << "strand " << component << " after step " << step;
    }
  }
}

}  // namespace
}  // namespace assay::model

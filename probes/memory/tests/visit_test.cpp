// SPDX-License-Identifier: Apache-2.0
#include "probes/memory/visit.hpp"

#include <gtest/gtest.h>

#include <list>
#include <random>
#include <unordered_map>

#include "probes/memory/ring.hpp"

namespace assay {
namespace {

// A cache of whole lines, one place each, that forgets what was used longest ago, or any.
class Cache {
 public:
  Cache(std::size_t lines, bool random) : lines_(lines), random_(random) {}

  bool hits(std::uint32_t place) {
    if (const auto at = where_.find(place); at != where_.end()) {
      if (!random_) held_.splice(held_.end(), held_, at->second);
      return true;
    }
    if (random_ && slots_.size() == lines_) {
      std::uint32_t& slot = slots_[generator_() % lines_];
      where_.erase(slot);
      where_[slot = place] = held_.end();
    } else if (random_) {
      slots_.push_back(place);
      where_[place] = held_.end();
    } else {
      if (held_.size() == lines_) where_.erase(held_.front()), held_.pop_front();
      where_[place] = held_.insert(held_.end(), place);
    }
    return false;
  }

 private:
  std::size_t lines_;
  bool random_;
  std::list<std::uint32_t> held_;  // the longest unused first
  std::vector<std::uint32_t> slots_;
  std::unordered_map<std::uint32_t, std::list<std::uint32_t>::iterator> where_;
  std::mt19937 generator_{7};  // NOLINT: the same each time
};

constexpr int kWalk = 2048;

double share_of_hits(Cache& cache, std::uint32_t count, std::uint32_t first) {
  int hits = 0;
  for (std::uint32_t step = 0; step < kWalk; ++step)
    hits += cache.hits(shuffle_within((first + step) % count, count));
  return static_cast<double>(hits) / kWalk;
}

double after_a_visit(Cache cache, std::uint32_t count, std::uint32_t first, int rounds) {
  const std::uint64_t steps = visit_steps(count, UINT32_MAX, rounds);
  for (std::uint64_t step = 0; step < steps; ++step)
    for (std::uint32_t chain = 0; chain < kVisitLoads; ++chain)
      cache.hits(shuffle_within(
          static_cast<std::uint32_t>(
              (visit_begin(count, first, steps, chain) + step * kVisitLoads) % count),
          count));
  return share_of_hits(cache, count, first);
}

double after_walking(Cache cache, std::uint32_t count, std::uint32_t first, int rounds) {
  for (std::uint32_t step = 0; step < count * static_cast<std::uint32_t>(rounds); ++step)
    cache.hits(shuffle_within((first + step) % count, count));
  return share_of_hits(cache, count, first);
}

TEST(Visit, LeavesWhatAWalkLeaves) {
  constexpr std::uint32_t kLines = 20000;
  for (const bool random : {false, true})
    for (const std::uint32_t count : {15000u, 24000u, 40000u, 61803u})
      for (const std::uint32_t first : {0u, count / 3, count - 1}) {
        const Cache cache(kLines, random);
        const double walked = after_walking(cache, count, first, 4);
        const double visited = after_a_visit(cache, count, first, 4);
        EXPECT_NEAR(visited, walked, 0.03) << "random " << random << ", places " << count;
        if (!random) {
          EXPECT_EQ(walked, count < kLines ? 1 : 0) << count;
        }
      }
}

TEST(Visit, EndsBeforeTheWalkBegins) {
  for (const std::uint32_t count : {1u, 8u, 255u, 256u, 1000u})
    for (const int rounds : {1, 2, 16}) {
      const std::uint64_t steps = visit_steps(count, UINT32_MAX, rounds);
      EXPECT_GE(steps * kVisitLoads, std::uint64_t{count} * static_cast<unsigned>(rounds));
      const std::uint64_t last = visit_begin(count, 5 % count, steps, kVisitLoads - 1) +
                                 (steps - 1) * std::uint64_t{kVisitLoads};
      EXPECT_EQ((last + 1) % count, 5 % count) << count;
    }
  EXPECT_EQ(visit_steps(1'000'000, 4096, 2), 2 * 4096u / kVisitLoads);
}

std::vector<Settled> settled(double begin, double end, double left_after_a_round) {
  int asked = 0;
  const auto found = until_steady(2, [&](const std::vector<std::size_t>& which, int rounds) {
    ++asked;
    std::vector<double> values;
    for (const std::size_t i : which)
      values.push_back(i == 0 ? 100 : end + (begin - end) * std::pow(left_after_a_round, rounds));
    return values;
  });
  EXPECT_EQ(found[0].rounds, 4);  // what is steady at once is asked for twice
  return found;
}

TEST(UntilSteady, GoesOnUntilTwoPassesAgree) {
  const Settled quick = settled(280, 460, 0.3)[1];
  EXPECT_EQ(quick.rounds, 8);
  EXPECT_NEAR(quick.value, 460, 1);
  const Settled slow = settled(280, 460, 0.8)[1];
  EXPECT_EQ(slow.rounds, 0);  // 430 after 8 rounds, 455 after 16
  EXPECT_NEAR(slow.value, 455, 1);
}

TEST(UntilSteady, AsksAgainOnlyForWhatIsOpen) {
  std::vector<std::size_t> asked;
  until_steady(3, [&](const std::vector<std::size_t>& which, int rounds) {
    asked.push_back(which.size());
    std::vector<double> values;
    for (const std::size_t i : which) values.push_back(i == 1 ? rounds : 100);
    return values;
  });
  EXPECT_EQ(asked, (std::vector<std::size_t>{3, 3, 1, 1}));
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/schedule_sm90.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "kernels/frame/workers/worker_places.hpp"

namespace assay::kernels {
namespace {

// Every step of every tile is done once; each tile has one owner; who leaves a share leaves one.
TEST(GemmScheduleSm90, TheScheduleDoesEveryStepOnce) {
  for (const int k_steps : {1, 3, 7, 64}) {
    for (const int tiles : {1, 5, 66, 137}) {
      for (const int workers : {1, 4, 66}) {
        for (const int stream : {0, std::min(tiles, workers), tiles % workers}) {
          if (stream > 0 && workers > stream * k_steps) continue;
          const GemmSchedule schedule({tiles, 1, 8}, k_steps, stream, workers);
          std::multiset<std::int64_t> steps;
          std::multiset<int> owned;
          for (int w = 0; w < workers; ++w) {
            WorkWalk walk(schedule, w);
            WorkUnit unit;
            int left = 0;
            while (walk.next(unit)) {
              for (int k = unit.k_begin; k < unit.k_end; ++k)
                steps.insert(std::int64_t{unit.tile} * k_steps + k);
              if (unit.k_end == k_steps) {
                owned.insert(unit.tile);
              } else {
                EXPECT_EQ(++left, 1);
              }
            }
          }
          EXPECT_EQ(steps.size(), static_cast<std::size_t>(tiles) * static_cast<unsigned>(k_steps));
          EXPECT_EQ(std::set<std::int64_t>(steps.begin(), steps.end()).size(), steps.size());
          EXPECT_EQ(owned.size(), static_cast<std::size_t>(tiles));
          EXPECT_EQ(std::set<int>(owned.begin(), owned.end()).size(), owned.size());
        }
      }
    }
  }
}

// Of tiles in parts every step is one worker's, who has a single range and a place that says which,
// as the kernel that adds them takes it.
TEST(GemmScheduleSm90, PartsOfATileAreItsStepsOnce) {
  for (const int k_steps : {5, 8, 1024}) {
    for (const int tiles : {1, 2, 6}) {
      for (const int parts : {2, 3, 5, 20}) {
        if (parts > k_steps) continue;
        const GemmSchedule schedule({tiles, 1, 8}, k_steps, 0, tiles * parts, parts,
                                    worker_places(tiles * parts, 1, 2, 1, 8));
        std::map<int, WorkUnit> units;  // by place
        for (int worker = 0; worker < tiles * parts; ++worker) {
          WorkWalk walk(schedule, worker);
          const int place = walk.take_part(worker);
          WorkUnit unit;
          ASSERT_TRUE(walk.next(unit));
          EXPECT_EQ(unit.tile, place % tiles);
          EXPECT_TRUE(units.emplace(place, unit).second);
          EXPECT_FALSE(walk.next(unit));
        }
        ASSERT_EQ(units.size(), static_cast<std::size_t>(tiles * parts));
        for (const auto& [place, unit] : units) {
          EXPECT_EQ(unit.k_begin, place < tiles ? 0 : units.at(place - tiles).k_end);
          EXPECT_GT(unit.k_end, unit.k_begin);
          if (place >= tiles * (parts - 1)) EXPECT_EQ(unit.k_end, k_steps);
        }
      }
    }
  }
}

// They are the walk's, of whole tiles, shares and parts; a worker without work has none.
TEST(GemmScheduleSm90, TheFirstStepsAreThoseOfTheFirstUnit) {
  int none = 0, few = 0, late = 0;
  for (const int k_steps : {1, 2, 7, 64}) {
    for (const auto& [tiles, stream, workers, parts] :
         {std::tuple(5, 0, 5, 1), std::tuple(3, 0, 8, 1), std::tuple(137, 5, 66, 1),
          std::tuple(66, 66, 132, 1), std::tuple(6, 0, 18, 3), std::tuple(266, 0, 132, 1)}) {
      if (parts > k_steps || (stream > 0 && workers > stream * k_steps)) continue;
      const Raster raster{.rows = tiles, .columns = 2, .band = 4};
      const int groups = parts > 1 ? 2 * workers : workers;  // a worker for each part
      const GemmSchedule schedule(raster, k_steps, stream, groups, parts,
                                  worker_places(groups, 2, 1, 2, 4));
      const FirstStepsSm90 first(schedule);
      for (int worker = 0; worker < groups; ++worker) {
        SCOPED_TRACE(fmt::format("{} steps, {} tiles, worker {}", k_steps, tiles, worker));
        WorkWalk walk(schedule, worker);
        if (parts > 1) walk.take_part(worker);
        WorkUnit unit;
        const auto [tile, k_begin, count] = first.of(worker);
        if (!walk.next(unit)) {
          EXPECT_EQ(count, 0);
          ++none;
          continue;
        }
        EXPECT_EQ(tile.m, schedule.raster.at(unit.tile).m);
        EXPECT_EQ(tile.n, schedule.raster.at(unit.tile).n);
        EXPECT_EQ(k_begin, unit.k_begin);
        EXPECT_EQ(count, std::min(unit.k_end - unit.k_begin, kFirstStepsSm90));
        few += count < kFirstStepsSm90;
        late += k_begin > 0;
      }
    }
  }
  EXPECT_GT(none, 0);
  EXPECT_GT(few, 0);
  EXPECT_GT(late, 0);
}

// More than the table has room for: of more workers, and of tiles or steps too far out.
TEST(GemmScheduleSm90, NoFirstStepsWhereTheTableHasNoRoom) {
  const auto first = [](const Raster& raster, int k_steps, int stream, int workers) {
    return FirstStepsSm90(GemmSchedule(raster, k_steps, stream, workers));
  };
  EXPECT_EQ(first({133, 1, 8}, 9, 0, 132).of(131).count, kFirstStepsSm90);
  EXPECT_EQ(first({133, 1, 8}, 9, 0, 133).of(0).count, 0);
  // Of one tile that two share, the second worker's part is the latter half.
  EXPECT_EQ(first({1, 1, 8}, 1 << 20, 1, 2).of(1).k_begin, 1 << 19);
  EXPECT_EQ(first({1, 1, 8}, 1 << 25, 1, 2).of(1).count, 0);
  EXPECT_EQ(first({1, 1 << 17, 1}, 9, (1 << 17) - 1, 1).of(0).count, 0);
}

// Those of one part are in one GPC, where they read the same at the same time: of eight tiles, that
// a GPC has room for, GPUs give every eighth cluster of two to the same.
TEST(GemmScheduleSm90, WorkersOfAPartAreInOneGpc) {
  constexpr int kTiles = 8, kParts = 8, kLone = 4;  // clusters that are in no GPC come first
  const GemmSchedule schedule({4, 2, 8}, 512, 0, kTiles * kParts, kParts,
                              worker_places(kTiles * kParts, 1, 2, 2, 4));
  const auto part_of = [&](int worker) {
    return WorkWalk(schedule, worker).take_part(worker) / kTiles;
  };
  int together = 0, apart = 0;
  for (int worker = kLone; worker + 8 < kLone + 32; ++worker)
    ++(part_of(worker) == part_of(worker + 8) ? together : apart);
  EXPECT_GT(together, 3 * apart);
}

}  // namespace
}  // namespace assay::kernels

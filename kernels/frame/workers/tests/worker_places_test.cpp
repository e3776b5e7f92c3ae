// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/workers/worker_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::kernels {
namespace {

bool is_permutation_of(const std::vector<int>& values, int count) {
  const std::set<int> all(values.begin(), values.end());
  return static_cast<int>(all.size()) == count && *all.begin() == 0 && *all.rbegin() == count - 1;
}

std::vector<int> places_of(int workers, const WorkerPlaces& places) {
  std::vector<int> all;
  for (int worker = 0; worker < workers; ++worker) all.push_back(places.at(worker));
  return all;
}

TEST(WorkerPlaces, EachWorkerHasATileOfItsOwn) {
  for (const auto& [m, n] : std::vector<std::pair<int, int>>{
           {1, 1}, {2, 1}, {1, 2}, {4, 1}, {1, 4}, {2, 2}, {4, 2}, {8, 1}, {16, 1}})
    for (int workers = 1; workers <= 132 / (m * n); ++workers) {
      EXPECT_TRUE(is_permutation_of(ranks_by_gpc(workers, m * n), workers));
      for (const int columns : {1, 2, 3, 8, 100})
        for (const int band : {1, 2, 3, 4, 8, 16}) {
          const auto places = places_of(workers, worker_places(workers, m, n, columns, band));
          EXPECT_TRUE(is_permutation_of(places, workers)) << workers << " " << m << "x" << n;
        }
    }
}

TEST(WorkerPlaces, BeyondTheTableAllStay) {
  EXPECT_EQ(worker_places(133, 1, 1, 100, 8).at(132), 132);
  EXPECT_EQ(WorkerPlaces().at(66), 66);
}

// Of placement/order/1 in results/h200/2026-11-22-full/run.json: the GPC of each cluster of two, in
// the order of the grid; i to l are TPCs that stand alone.
const std::string kGpcs = "jkliabcdefghabcdefghabcdefghabcdefghbcdefghbcdefghbcdefghbcdefghgh";

// The eight clusters of a GPC of 16 SMs, for each such GPC and those with more.
std::vector<std::vector<int>> clusters_of_gpcs() {
  std::map<char, std::vector<int>> clusters;
  for (std::size_t i = 0; i < kGpcs.size(); ++i)
    if (kGpcs[i] >= 'b' && kGpcs[i] <= 'h') clusters[kGpcs[i]].push_back(static_cast<int>(i));
  std::vector<std::vector<int>> all;
  for (auto& [gpc, of] : clusters) {
    of.resize(8);
    all.push_back(of);
  }
  return all;
}

TEST(WorkerPlaces, ClustersOfAGpcFollowEachOther) {
  for (const int workers : {64, 66}) {
    const std::vector<int> ranks = ranks_by_gpc(workers, 2);
    for (const std::vector<int>& clusters : clusters_of_gpcs()) {
      std::vector<int> found;
      for (const int cluster : clusters) found.push_back(ranks[static_cast<std::size_t>(cluster)]);
      std::ranges::sort(found);
      EXPECT_EQ(found.front() % 8, 0);
      EXPECT_EQ(found.back(), found.front() + 7);
    }
  }
}

// Where CTAs of a cluster share the columns' operand, a GPC's clusters share the rows' one, and the
// other way round.
TEST(WorkerPlaces, ClustersOfAGpcShareWhatIsNotMulticast) {
  constexpr int kBand = 8;
  const WorkerPlaces in_rows = worker_places(64, 2, 1, 16, kBand),
                     in_columns = worker_places(64, 1, 2, 16, kBand);
  for (const std::vector<int>& clusters : clusters_of_gpcs()) {
    std::set<int> rows, columns;
    for (const int cluster : clusters) {
      rows.insert(in_rows.at(cluster) % kBand);
      columns.insert(in_columns.at(cluster) / kBand);
    }
    EXPECT_EQ(rows.size(), 1U);
    EXPECT_EQ(columns.size(), 1U);
  }
}

TEST(WorkerPlaces, GainWhereMuchIsAskedFor) {
  EXPECT_TRUE(gains_by_places(128, 128, 2, 1, 8, 16, 64));
  EXPECT_TRUE(gains_by_places(64, 128, 1, 2, 4, 16, 81));
  EXPECT_FALSE(gains_by_places(64, 64, 2, 1, 4, 8, 8));  // not for long
  EXPECT_FALSE(gains_by_places(128, 256, 2, 1, 8, 16, 64));
  EXPECT_FALSE(gains_by_places(128, 192, 2, 1, 8, 16, 64));
  EXPECT_FALSE(gains_by_places(64, 128, 1, 2, 64, 1, 100));   // all share the columns' operand
  EXPECT_FALSE(gains_by_places(128, 128, 4, 2, 8, 16, 100));  // both are multicast
  EXPECT_FALSE(gains_by_places(128, 128, 1, 1, 8, 16, 100));
}

TEST(WorkerPlaces, WavesGoByEights) {
  EXPECT_EQ(workers_of_waves(64, 66), 64);
  EXPECT_EQ(workers_of_waves(128, 66), 64);
  EXPECT_EQ(workers_of_waves(130, 66), 65);  // 128 would leave a third wave
  EXPECT_EQ(workers_of_waves(100, 66), 56);  // 50 would do
  EXPECT_EQ(workers_of_waves(5, 66), 5);
  for (int tiles = 1; tiles < 400; ++tiles)
    for (const int most : {15, 30, 66, 132}) {
      const int workers = workers_of_waves(tiles, most);
      EXPECT_LE(workers, std::min(tiles, most));
      const auto waves = [&](int of) { return (tiles + of - 1) / of; };
      EXPECT_EQ(waves(workers), waves(std::min(tiles, most)));
    }
}

}  // namespace
}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "probes/placement/gpc_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace assay {
namespace {

CtaPlace of(std::uint32_t cluster, std::uint32_t sm) { return {1, 2, sm, cluster, 0, 2}; }

TEST(GpcGroups, ClustersThatShareAnSmAreOfOneGroup) {
  GpcGroups groups(6);
  groups.add(std::vector<CtaPlace>{of(0, 0), of(0, 2), of(1, 1), of(1, 3)});
  EXPECT_EQ(groups.of_sm(), (std::vector<int>{0, 1, 0, 1, -1, -1}));
  groups.add(std::vector<CtaPlace>{of(0, 2), of(0, 4), of(1, 5)});
  EXPECT_EQ(groups.of_sm(), (std::vector<int>{0, 1, 0, 1, 0, 2}));
}

TEST(GpcGroups, LeavesOutWhatIsNoSm) {
  GpcGroups groups(2);
  groups.add(std::vector<CtaPlace>{of(0, 0), of(0, 7), of(1, 1)});
  EXPECT_EQ(groups.of_sm(), (std::vector<int>{0, 1}));
}

// A GPU of GPCs with 16 or 18 SMs, numbered in turns, and clusters on random SMs of one GPC each.
TEST(GpcGroups, RecoversRandomGpcsFromClusters) {
  std::mt19937 random(3);
  const std::vector<int> sizes = {16, 18, 16, 16, 18, 16, 16, 16};
  std::vector<int> truth;
  std::vector<std::vector<std::uint32_t>> sms(sizes.size());
  for (int turn = 0; turn < 18; ++turn)
    for (std::size_t gpc = 0; gpc < sizes.size(); ++gpc)
      if (turn < sizes[gpc]) {
        sms[gpc].push_back(static_cast<std::uint32_t>(truth.size()));
        truth.push_back(static_cast<int>(gpc));
      }
  GpcGroups groups(truth.size());
  std::uint32_t cluster = 0;
  for (const std::size_t size : {2, 4, 8, 16})
    for (int launch = 0; launch < 8; ++launch) {
      std::vector<CtaPlace> places;
      for (auto& gpc : sms) {
        std::ranges::shuffle(gpc, random);
        for (std::size_t i = 0; i + size <= gpc.size(); i += size, ++cluster)
          for (std::size_t k = 0; k < size; ++k) places.push_back(of(cluster, gpc[i + k]));
      }
      groups.add(places);
    }
  EXPECT_EQ(groups.of_sm(), truth);
  EXPECT_EQ(group_sizes(groups.of_sm()), sizes);
}

TEST(GpcGroups, LoneTpcsComeLast) {
  GpcGroups groups(8);
  groups.add(std::vector<CtaPlace>{of(0, 0), of(0, 1), of(1, 2), of(1, 3), of(1, 4), of(2, 5),
                                   of(2, 6), of(2, 7)});
  EXPECT_EQ(groups.of_sm(), (std::vector<int>{2, 2, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(whole_gpcs(group_sizes(groups.of_sm())), (std::vector<int>{3, 3}));
}

// cudaOccupancyMaxActiveClusters of an H200 of 132 SMs, for clusters of 1 to 16 CTAs.
const std::vector<int> kMostOnH200 = {132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7};

TEST(UnexplainedCluster, OnlyTheRightSizesExplainAll) {
  EXPECT_EQ(
      unexplained_cluster(std::vector<int>{8, 16, 16, 16, 16, 16, 18, 18, 2, 2, 2, 2}, kMostOnH200),
      0);
  // The lone TPCs in one GPC, or as whole GPCs have them: more clusters of 3 would fit.
  EXPECT_EQ(unexplained_cluster(std::vector<int>{8, 16, 16, 16, 16, 16, 18, 18, 8}, kMostOnH200),
            3);
  EXPECT_EQ(unexplained_cluster(std::vector<int>{16, 16, 16, 16, 16, 16, 18, 18}, kMostOnH200), 3);
  EXPECT_EQ(unexplained_cluster(std::vector<int>{18, 18, 18, 18, 18, 18, 16, 8}, kMostOnH200), 3);
}

// Pairs alone leave each GPC in pieces: what fits tells that more has to be seen.
TEST(UnexplainedCluster, FindsGroupsThatAreStillInPieces) {
  GpcGroups groups(8);
  groups.add(std::vector<CtaPlace>{of(0, 0), of(0, 1), of(1, 2), of(1, 3), of(2, 4), of(2, 5),
                                   of(3, 6), of(3, 7)});
  const std::vector<int> most = {8, 4, 2, 2};  // two GPCs of 4
  EXPECT_EQ(unexplained_cluster(group_sizes(groups.of_sm()), most), 3);
  groups.add(std::vector<CtaPlace>{of(0, 1), of(0, 2), of(1, 5), of(1, 6)});
  EXPECT_EQ(unexplained_cluster(group_sizes(groups.of_sm()), most), 0);
  EXPECT_EQ(groups.of_sm(), (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(GpcGroups, WhatIsLeftOverInAGpcFitsNoCluster) {
  const std::vector<int> sizes = {16, 18, 16};
  EXPECT_EQ(clusters_that_fit(sizes, 1), 50);
  EXPECT_EQ(clusters_that_fit(sizes, 4), 12);
  EXPECT_EQ(clusters_that_fit(sizes, 16), 3);
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/tcgen05_batches.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

Tcgen05Batches batches(bool latency, int ctas) {
  return {latency, ctas, [](int i) { return "operation " + std::to_string(i) + "\n"; }};
}

TEST(Tcgen05Batches, ARoundIsTwoBatchesOrEachOperationAlone) {
  const std::string many = batches(false, 1).loop(), alone = batches(true, 1).loop();
  EXPECT_EQ(count(many, "operation "), batches(false, 1).operations());
  EXPECT_EQ(count(many, "tcgen05.commit"), 2);
  EXPECT_EQ(count(many, "mbarrier.try_wait"), 2);
  EXPECT_EQ(count(alone, "operation "), batches(true, 1).operations());
  EXPECT_EQ(count(alone, "tcgen05.commit"), Tcgen05Batches::kAlone);
  EXPECT_EQ(count(alone, "mbarrier.try_wait"), Tcgen05Batches::kAlone);
  for (int i = 0; i < Tcgen05Batches::kAlone; ++i)
    EXPECT_EQ(count(alone, "operation " + std::to_string(i) + "\n"), 1);
}

TEST(Tcgen05Batches, OfTwoCtasOneIssuesAndBothAreTold) {
  const std::string text = batches(false, 2).loop();
  EXPECT_EQ(count(text, "@%peer bra follow"), 2);
  EXPECT_EQ(count(text, "cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster"),
            2);
  EXPECT_EQ(count(batches(false, 1).loop(), "peer"), 0);
}

TEST(Tcgen05Batches, OnlyBatchesLeaveOneUnderWay) {
  EXPECT_EQ(batches(true, 1).drain(), "");
  EXPECT_EQ(count(batches(false, 1).drain(), "mbarrier.try_wait"), 1);
}

}  // namespace
}  // namespace assay

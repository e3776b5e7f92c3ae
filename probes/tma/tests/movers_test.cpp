// SPDX-License-Identifier: Apache-2.0
#include "probes/tma/movers.hpp"

#include <gtest/gtest.h>

#include "harness/error.hpp"

namespace assay {
namespace {

TEST(PlanPipeline, HasInFlightExactlyWhatWasAsked) {
  for (const Mover& m : movers())
    for (std::uint64_t bytes = 1024; bytes <= (256 << 10); bytes += 1024)
      for (const int ctas : {1, 2, 4}) {
        const auto plan = plan_pipeline(m, bytes, 2048, ctas);
        if (!plan) continue;
        ASSERT_EQ(plan->in_flight(), bytes) << m.name;
        ASSERT_EQ(plan->ctas_per_sm, ctas);
        ASSERT_GE(plan->warps, 1);
        ASSERT_LE(plan->warps, 32);
        if (m.access_bytes == 0) {
          ASSERT_EQ(plan->slot_bytes, 2048u);
          ASSERT_LE(plan->warps * plan->stages, kMostSlots);
        } else {
          ASSERT_EQ(plan->slot_bytes % (32u * static_cast<unsigned>(m.access_bytes)), 0u);
        }
      }
}

TEST(PlanPipeline, SpreadsCopiesOverWarps) {
  const auto plan = plan_pipeline(mover("bulk"), 96 << 10, 4096).value();
  EXPECT_EQ(plan.warps, 8);
  EXPECT_EQ(plan.stages, 3);
  EXPECT_FALSE(plan_pipeline(mover("bulk"), 1024, 4096));
  EXPECT_FALSE(plan_pipeline(mover("bulk"), 6144, 4096));
  EXPECT_FALSE(plan_pipeline(mover("bulk"), 64 << 10, 128));
}

TEST(PlanPipeline, LoadsTakeMoreRegistersOnlyWhenWarpsRunOut) {
  const Mover& loads = mover("ld_16");
  EXPECT_EQ(plan_pipeline(loads, 64 << 10, 0)->variant, &loads.variants[0]);
  EXPECT_EQ(plan_pipeline(loads, 128 << 10, 0)->variant, &loads.variants[1]);
  EXPECT_EQ(plan_pipeline(loads, 192 << 10, 0)->variant, &loads.variants[2]);
  EXPECT_FALSE(plan_pipeline(loads, 256 << 10, 0));
}

TEST(Movers, AreFoundByName) {
  EXPECT_EQ(mover("tensor_4d").dimensions, 4);
  EXPECT_TRUE(exists_on(mover("cp_async_4"), Target::sm_89));
  EXPECT_FALSE(exists_on(mover("bulk"), Target::sm_89));
  EXPECT_THROW(mover("pigeon"), Error);
}

}  // namespace
}  // namespace assay

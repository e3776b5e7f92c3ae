// SPDX-License-Identifier: Apache-2.0
#include "probes/special_function/overlap_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::overlap {
namespace {

constexpr Type kWgmma{Family::wgmma, "bf16"}, kMmaSync{Family::mma_sync, "bf16"},
    kHalf{Family::wgmma, "f16", "f16"};
constexpr Softmax kBare = kSoftmaxes[0], kFull = kSoftmaxes[2];
constexpr Schedule kInOrder{"in_order", 1, 1, false}, kTwoStage{"two_stage", 1, 2, false},
    kPingPong{"ping_pong", 2, 1, true};

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

TEST(OverlapKernel, BalanceIsSixtyFourResultsAThread) {
  // 4096 FLOP against 16 results a clock and SM.
  const Kernel kernel{kWgmma, kPingPong, kFull, true, 64};
  EXPECT_EQ(kernel.flop() / 4096, kernel.results() / 16);
  EXPECT_EQ(kernel.flop(), 2.0 * 2 * 64 * 128 * 128);
  // A round of two stages has eight steps.
  const Kernel two{kWgmma, kTwoStage, kFull, true, 64};
  EXPECT_EQ(two.flop() / 4096, two.results() / 16);
  EXPECT_EQ(two.flop(), 8 * kernel.flop() / 2);
}

TEST(OverlapKernel, HoldsEachStepsWork) {
  for (const Schedule& schedule : {kInOrder, kTwoStage, kPingPong}) {
    const Kernel kernel{kWgmma, schedule, kFull, true, 48};
    const std::string ptx = kernel.use(Target::sm_90a).ptx;
    EXPECT_EQ(count(ptx, "wgmma.mma_async"), kDepth * kernel.steps()) << schedule.name;
    EXPECT_EQ(count(ptx, "ex2.approx"), 48 * kernel.steps()) << schedule.name;
    EXPECT_EQ(count(ptx, "fma.rn"), 48 * kernel.steps()) << schedule.name;
    const std::string bare = Kernel{kWgmma, schedule, kBare, true, 48}.use(Target::sm_90a).ptx;
    EXPECT_EQ(count(bare, "ex2.approx"), 48 * kernel.steps()) << schedule.name;
    EXPECT_EQ(count(bare, "fma.rn") + count(bare, "add.rn"), 0) << schedule.name;
  }
  const std::string ptx = Kernel{kMmaSync, kTwoStage, kFull, true, 48}.use(Target::sm_90a).ptx;
  EXPECT_EQ(count(ptx, "mma.sync"), 2 * kDepth * 8);
  EXPECT_EQ(count(ptx, "ex2.approx"), 2 * 48);
}

TEST(OverlapKernel, ExpectsWhatTheScheduleComputes) {
  const auto exp = [](double s) { return std::exp2(-0.25 * s - 0.5); };
  // 64 elements start as 1; eight MMAs each add 3; then 2^x of every element, of half of them
  // twice.
  const Expected once = expected_after({kWgmma, kInOrder, kFull, true, 96}, 1, 3);
  const double first = exp(25), second = exp(first);
  EXPECT_DOUBLE_EQ(once.elements.front(), second);
  EXPECT_DOUBLE_EQ(once.elements.back(), first);
  EXPECT_NEAR(once.sum, 64 * first + 32 * second, 1e-9);
  // mma.sync in two stages: buffer 1 is worked on before its first MMAs, buffer 0 behind its own.
  const Expected two = expected_after({kMmaSync, kTwoStage, kFull, true, 32}, 1, 3);
  EXPECT_DOUBLE_EQ(two.elements.front(), exp(25));
  EXPECT_DOUBLE_EQ(two.elements.back(), exp(1) + 24);
  // 2^-s alone, and no sum.
  const Expected bare = expected_after({kWgmma, kInOrder, kBare, true, 64}, 1, 3);
  EXPECT_DOUBLE_EQ(bare.elements.front(), std::exp2(-25));
  EXPECT_EQ(bare.sum, 0);
}

TEST(OverlapKernel, HalfAccumulatorsAreTwoARegister) {
  const Kernel kernel{kHalf, kPingPong, kFull, true, 64};
  EXPECT_EQ(kernel.type.registers(), 32);
  const std::string ptx = kernel.use(Target::sm_90a).ptx;
  EXPECT_EQ(count(ptx, "ex2.approx"), 64);
  EXPECT_EQ(count(ptx, "cvt.f32.f16"), 64);
  EXPECT_EQ(count(ptx, "cvt.rn.f16x2.f32"), 32);
}

TEST(OverlapKernel, AllowsForTheBitsThatAnAccumulatorKeeps) {
  // None would pass with one MMA of eight missing, an eighth of s.
  EXPECT_EQ(tolerance({kWgmma, kInOrder, kFull, true, 64}, 1), 1e-4);
  const double e4m3 = tolerance({{Family::wgmma, "e4m3"}, kInOrder, kFull, true, 64}, 1);
  EXPECT_NEAR(e4m3, 8 * std::exp2(-13) * 9 * 0.25 * std::log(2), 1e-9);
  EXPECT_NEAR(tolerance({kHalf, kInOrder, kFull, true, 64}, 0.5), 8 * std::exp2(-10), 1e-9);
}

}  // namespace
}  // namespace assay::overlap

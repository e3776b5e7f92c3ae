// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/workers/step_meeting.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/frame/workers/workspace.hpp"

namespace assay::kernels {
namespace {

TEST(StepMeeting, OnlyLongWorkHasMeetings) {
  EXPECT_EQ(step_meeting(66, 64).every, 0);
  const StepMeeting meeting = step_meeting(66, 16384);
  EXPECT_GT(meeting.every, 0);
  EXPECT_EQ(meeting.workers, 66);
  EXPECT_EQ(meeting.counter, nullptr);
}

TEST(StepMeeting, NobodyMeetsWithoutAWorkspace) {
  std::vector<std::uint32_t> workspace(kFlagBytes / sizeof(std::uint32_t));
  const StepMeeting meeting = step_meeting(66, 16384);
  EXPECT_EQ(with_counter(meeting, nullptr).counter, nullptr);
  EXPECT_EQ(with_counter(step_meeting(66, 64), workspace.data()).counter, nullptr);
  const std::uint32_t* const counter = with_counter(meeting, workspace.data()).counter;
  ASSERT_NE(counter, nullptr);
  EXPECT_GE(counter, workspace.data());
  EXPECT_LT(counter, workspace.data() + workspace.size());
}

}  // namespace
}  // namespace assay::kernels

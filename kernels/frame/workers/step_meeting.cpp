// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/workers/step_meeting.hpp"

#include "kernels/frame/workers/workspace.hpp"

namespace assay::kernels {
namespace {

// Every 32 to 256 stages gained the same on an H200, with 5 to 40 looks at the counter
// (results/h200/2026-11-29-step-meeting, periods.csv).
constexpr int kEvery = 64;
constexpr int kLeastMeetings = 4;  // of less time, there is nothing to gain

}  // namespace

StepMeeting step_meeting(int workers, double stages) {
  if (stages < kLeastMeetings * kEvery) return {};
  return {.workers = workers, .every = kEvery};
}

StepMeeting with_counter(StepMeeting meeting, void* workspace) {
  meeting.counter =
      meeting.every > 0 && workspace != nullptr ? meeting_counter(workspace) : nullptr;
  return meeting;
}

StepMeeting with_counter_of(StepMeeting meeting, cudaStream_t stream) {
  return with_counter(meeting, meeting.every > 0 ? workspace_if_there(stream) : nullptr);
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// Keeps the workers of a persistent product in step along k.
//
// Workers drift apart: each waits now and then for what others need not wait for. What those of a
// GPC would have read together they then read one after the other, and a line that the last asks
// for may have left L2. So their loaders meet every so many stages: each adds 1 to a counter in L2
// and waits until all have, but looks no more than a few times. The stages that are full by then
// hide that wait from the MMAs. It orders no memory, and nothing but time hangs on it: who finds
// others missing goes on, so nobody needs all to run at the same time.
//
// In bursts on an H200, 16384 cubed in bf16 took 0.96 of the time in the mean over forms,
// 8192x8192x28672 0.98, and products of a millisecond or less the same
// (results/h200/2026-11-29-step-meeting).
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay::kernels {

struct StepMeeting {
  int workers = 0;  // of the grid: those whose loaders meet
  int every = 0;    // stages of a loader's ring, then at the tile's end; 0: nobody meets
  std::uint32_t* counter = nullptr;  // 0 before and after each launch; null: nobody meets
};

// For workers that load about so many stages each. Without a counter yet.
StepMeeting step_meeting(int workers, double stages);

// The same with the counter of a workspace (workspace.hpp), if anybody is to meet and there is one.
StepMeeting with_counter(StepMeeting meeting, void* workspace);

// The same with that of the stream's workspace. A stream that is being captured may have none yet:
// then nobody meets.
StepMeeting with_counter_of(StepMeeting meeting, cudaStream_t stream);

}  // namespace assay::kernels

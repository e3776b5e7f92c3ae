// SPDX-License-Identifier: Apache-2.0
// Device memory that kernels need beside their operands.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

// The first bytes of every workspace are for signals: zero when it is new, and users leave them so.
constexpr std::size_t kFlagBytes = 16384;

// At least `bytes` bytes, kFlagBytes or more, for launches on `stream` of the current device.
// Launches on one stream follow each other, so they share it. Of cudaStreamPerThread each thread
// has its own. Where it has to grow, the old memory stays as it is, for graphs that were captured
// with it; a stream that is being captured cannot: Error(usage). The first call of a stream that
// has the handle of one before it waits for the device, unless it is being captured. Thread-safe.
// Lives as long as the process.
void* workspace(cudaStream_t stream, std::size_t bytes);

// The same, of kFlagBytes, for what does without and is right whoever uses it meanwhile: null where
// a stream that is being captured has none. Never waits.
void* workspace_if_there(cudaStream_t stream);

// Of a workspace, where workers count each other (step_meeting.hpp): the last 128 of kFlagBytes.
inline std::uint32_t* meeting_counter(void* workspace) {
  return reinterpret_cast<std::uint32_t*>(static_cast<std::uint8_t*>(workspace) + kFlagBytes - 128);
}

}  // namespace assay::kernels

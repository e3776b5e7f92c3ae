// SPDX-License-Identifier: Apache-2.0
// Clock and power of a GPU along time, from idle into a load and out of it again.
#pragma once
#include <cuda_runtime_api.h>

#include <vector>

#include "harness/callable.hpp"
#include "harness/probe.hpp"
#include "harness/state.hpp"

namespace assay {

// Watches a GPU that idles, then does `work` over and over, then idles. `work` enqueues about a
// millisecond of work on the stream. Adds what is found as the series and figures of
// load_trace_notes(). Skips the case where NVML does not tell.
void trace_load(State& s, const Callable<void(cudaStream_t)>& work);
std::vector<MetricNote> load_trace_notes();

}  // namespace assay

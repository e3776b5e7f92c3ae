// SPDX-License-Identifier: Apache-2.0
// Which kernels a piece of work launches, and how.
#pragma once
#include <cuda_runtime_api.h>

#include <vector>

#include "harness/callable.hpp"
#include "harness/measurement.hpp"

namespace assay {

// The kernels that `work` enqueues on the stream, in order, also those of graphs that it launches
// where the driver can capture that. It is captured, not run. Empty where that cannot be done:
// where it waits, allocates, or uses another stream that does not follow this one. Throws Error
// where the driver fails otherwise.
std::vector<KernelLaunch> kernels_launched(cudaStream_t stream, const Callable<void()>& work);

}  // namespace assay

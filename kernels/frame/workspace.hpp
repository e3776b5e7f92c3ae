// SPDX-License-Identifier: Apache-2.0
// Device memory that kernels need beside their operands.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

namespace assay::kernels {

// At least `bytes` bytes for launches on `stream` of the current device. Launches on one stream
// follow each other, so they share it; its first bytes are zero when it is new, and users leave
// them so: `zeroed` says how many. Of cudaStreamPerThread each thread has its own. Where it has to
// grow, the old memory stays as it is, for graphs that were captured with it; a stream that is
// being captured cannot: Error(usage). Thread-safe. Lives as long as the process.
void* workspace(cudaStream_t stream, std::size_t bytes, std::size_t zeroed);

}  // namespace assay::kernels

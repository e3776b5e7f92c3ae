// SPDX-License-Identifier: Apache-2.0
// The operation: `bytes` bytes from `in` to `out`, both in the GPU's memory. A multiple of 16.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

void copy(void* out, const void* in, std::size_t bytes, cudaStream_t stream);

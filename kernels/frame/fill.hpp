// SPDX-License-Identifier: Apache-2.0
// What operands are filled with.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

// Reproducible bf16 values uniform in [-1, 1).
void fill_uniform_bf16(void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream);

// NaN in every floating-point type that has one, so that an output nobody wrote is seen.
void poison(void* data, std::size_t bytes, cudaStream_t stream);

}  // namespace assay::kernels

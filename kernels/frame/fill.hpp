// SPDX-License-Identifier: Apache-2.0
// What operands are filled with. The same seed makes the same values.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace assay::kernels {

// bf16 values uniform in [-1, 1).
void fill_uniform_bf16(void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream);

// Values of the standard normal distribution, rounded to `type`: bf16, f16, f32, e4m3 or e5m2.
// Throws Error(usage) for any other.
void fill_normal(const std::string& type, void* data, std::size_t count, std::uint64_t seed,
                 cudaStream_t stream);

// f32 factors uniform in [0.5, 1.5): scales.
void fill_factors(void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream);

// Bytes, all 256 values alike: integers and packed types of fewer bits.
void fill_bytes(void* data, std::size_t bytes, std::uint64_t seed, cudaStream_t stream);

// NaN in every floating-point type that has one, so that an output nobody wrote is seen.
void poison(void* data, std::size_t bytes, cudaStream_t stream);

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// Division by a number that the host knows: a product and a shift where a division takes the GPU
// some 100 cycles.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay::kernels {

// Of n and a divisor d from 1 to 2^31 - 1: with s the least shift with 2^s >= d and
// m = floor(2^32 (2^s - d) / d) + 1, the quotient is (floor(n m / 2^32) + n) / 2^s (Granlund and
// Montgomery, 1994, "Division by invariant integers using multiplication"). The sum stays below
// 2^32 for n < 2^31.
struct Divisor {
  std::uint32_t value = 1, multiplier = 1, shift = 0;

  constexpr Divisor() = default;
  __host__ __device__ constexpr explicit Divisor(int divisor)
      : value(static_cast<std::uint32_t>(divisor)) {
    while ((std::uint64_t{1} << shift) < value) ++shift;
    multiplier =
        static_cast<std::uint32_t>(((((std::uint64_t{1} << shift) - value) << 32) / value) + 1);
  }

  __host__ __device__ constexpr int number() const { return static_cast<int>(value); }

  // floor(n / value), for n >= 0.
  __host__ __device__ constexpr int quotient(int n) const {
    const auto dividend = static_cast<std::uint32_t>(n);
    const auto high = static_cast<std::uint32_t>((std::uint64_t{dividend} * multiplier) >> 32);
    return static_cast<int>((high + dividend) >> shift);
  }
  // What is left of n.
  __host__ __device__ constexpr int rest(int n, int quotient_of_n) const {
    return n - quotient_of_n * number();
  }
};

}  // namespace assay::kernels

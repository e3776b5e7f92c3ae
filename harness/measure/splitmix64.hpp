// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace assay {

// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): a
// bijection with full avalanche, so that a counter makes reproducible random bits of it.
__host__ __device__ constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace assay

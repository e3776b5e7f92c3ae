// SPDX-License-Identifier: Apache-2.0
// What the ranks of a collective send, and what must arrive: small integers that every sum of them
// and the type itself represent exactly, so that results are compared bit by bit.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "probes/collective/nccl.hpp"

namespace assay {

enum class Operation : std::uint8_t { all_reduce, all_gather };

// Integers are exact up to 2^8 in bf16 and up to 2^4 in e4m3; below are the largest ranges whose
// sum over 8 ranks stays within that: 8 * 32 and 8 * 2.
inline constexpr int kMaxRanks = 8;
__host__ __device__ constexpr std::uint32_t pattern_values(ncclDataType_t type) {
  return type == ncclBfloat16 ? 33 : 3;
}

// Element `index` of what `rank` sends: neighbours and ranks differ, with no short period.
__host__ __device__ constexpr std::uint32_t pattern(ncclDataType_t type, std::size_t index,
                                                    int rank) {
  const auto mixed = static_cast<std::uint32_t>((index * 0x9e3779b97f4a7c15u) >> 40);
  return (mixed + static_cast<std::uint32_t>(rank)) % pattern_values(type);
}

// Element `index` of what every rank must have received; `send_count` is what each rank sent.
__host__ __device__ constexpr std::uint32_t pattern_result(Operation operation, ncclDataType_t type,
                                                           std::size_t index,
                                                           std::size_t send_count, int ranks) {
  if (operation == Operation::all_gather)
    return pattern(type, index % send_count, static_cast<int>(index / send_count));
  std::uint32_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += pattern(type, index, rank);
  return sum;
}

// Fills `count` elements at `send` with what `rank` sends. On the current device.
void fill_pattern(void* send, ncclDataType_t type, std::size_t count, int rank,
                  cudaStream_t stream);

// Adds to *wrong (device memory) how many of `count` received elements differ from
// pattern_result().
void count_wrong(const void* received, Operation operation, ncclDataType_t type, std::size_t count,
                 std::size_t send_count, int ranks, unsigned long long* wrong, cudaStream_t stream);

}  // namespace assay

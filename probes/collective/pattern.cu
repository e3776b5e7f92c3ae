// SPDX-License-Identifier: Apache-2.0
#include "probes/collective/pattern.hpp"

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "harness/cuda.hpp"

namespace assay {
namespace {

__device__ std::size_t thread_index() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::size_t thread_count() { return std::size_t{gridDim.x} * blockDim.x; }

// The bits of an element that holds this integer.
template <class Bits>
__device__ Bits encode(std::uint32_t value) {
  if constexpr (sizeof(Bits) == 2)
    return __bfloat16_as_ushort(__float2bfloat16_rn(static_cast<float>(value)));
  else
    return __nv_cvt_float_to_fp8(static_cast<float>(value), __NV_SATFINITE, __NV_E4M3);
}

template <class Bits>
__global__ void fill(Bits* send, ncclDataType_t type, std::size_t count, int rank) {
  for (std::size_t i = thread_index(); i < count; i += thread_count())
    send[i] = encode<Bits>(pattern(type, i, rank));
}

template <class Bits>
__global__ void compare(const Bits* received, Operation operation, ncclDataType_t type,
                        std::size_t count, std::size_t send_count, int ranks,
                        unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::size_t i = thread_index(); i < count; i += thread_count())
    mine += received[i] != encode<Bits>(pattern_result(operation, type, i, send_count, ranks));
  if (mine) atomicAdd(wrong, mine);
}

constexpr int kBlocks = 1024, kThreads = 256;

}  // namespace

void fill_pattern(void* send, ncclDataType_t type, std::size_t count, int rank,
                  cudaStream_t stream) {
  if (type == ncclBfloat16)
    fill<<<kBlocks, kThreads, 0, stream>>>(static_cast<std::uint16_t*>(send), type, count, rank);
  else
    fill<<<kBlocks, kThreads, 0, stream>>>(static_cast<std::uint8_t*>(send), type, count, rank);
  check(cudaGetLastError());
}

void count_wrong(const void* received, Operation operation, ncclDataType_t type, std::size_t count,
                 std::size_t send_count, int ranks, unsigned long long* wrong,
                 cudaStream_t stream) {
  const auto launch = [&](auto* bits) {
    compare<<<kBlocks, kThreads, 0, stream>>>(bits, operation, type, count, send_count, ranks,
                                              wrong);
  };
  if (type == ncclBfloat16)
    launch(static_cast<const std::uint16_t*>(received));
  else
    launch(static_cast<const std::uint8_t*>(received));
  check(cudaGetLastError());
}

}  // namespace assay

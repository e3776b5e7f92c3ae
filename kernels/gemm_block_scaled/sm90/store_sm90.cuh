// SPDX-License-Identifier: Apache-2.0
// How a warp of a consumer warpgroup writes its accumulators: through shared memory, by TMA.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

#include "harness/ptx/fence.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"

namespace assay::kernels {

// A buffer: 16 rows of 64 bf16, the box of D's map, under the 128-byte swizzle. A warp has two.
constexpr int kBytesStoreSm90 = 16 * 128;

// Writes 16 x 64 elements of D from 32 accumulators, the upper left one at (row, column).
//
// stmatrix takes four 8 x 8 matrices: accumulators 8j .. 8j + 7 of a lane are two columns of rows
// l / 4 and l / 4 + 8 in column groups 2j and 2j + 1. Lane l gives the address of row l % 16 in
// column group 2j + l / 16. The swizzle puts the eight rows of a matrix into different banks.
__device__ __forceinline__ void store_64_columns_sm90(const CUtensorMap* map, const float* d,
                                                      std::uint8_t* buffers, int& next_buffer,
                                                      int row, int column) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t lane_row = lane % 16;
  std::uint8_t* const buffer = buffers + next_buffer * kBytesStoreSm90;
  next_buffer ^= 1;
  // The store before the last one used this buffer.
  if (lane == 0) ptx::bulk_wait_read<1>();
  __syncwarp();
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    std::uint32_t packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const __nv_bfloat162 pair = __floats2bfloat162_rn(d[j * 8 + i * 2], d[j * 8 + i * 2 + 1]);
      packed[i] = reinterpret_cast<const std::uint32_t&>(pair);
    }
    const std::uint32_t group = 2 * j + lane / 16;
    ptx::stmatrix_x4(ptx::shared_address(buffer) + lane_row * 128 + ((group ^ lane_row % 8) * 16),
                     packed);
  }
  ptx::fence_proxy_async_shared();
  __syncwarp();
  if (lane == 0) {
    ptx::tma_store_2d(map, buffer, column, row);
    ptx::bulk_commit();
  }
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// How a warp of a consumer warpgroup writes its accumulators: through shared memory, by TMA.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>
#include <type_traits>

#include "harness/ptx/fence.cuh"
#include "harness/ptx/load_store.cuh"
#include "harness/ptx/matrix.cuh"
#include "harness/ptx/shared_address.cuh"
#include "harness/ptx/tma.cuh"

namespace assay::kernels {

// A buffer: 16 rows of 64 bf16, the box of D's map, under the 128-byte swizzle.
constexpr int kBytesStoreSm90 = 16 * 128;

// Every row of a box is the tile's, or lies outside of D.
struct NoEdgeSm90 {
  __device__ bool cuts(int) const { return false; }
  __device__ bool has(int) const { return true; }
};

// Rows of D from rows_end on are another's: TMA, which knows only where D ends, does not write the
// box that holds this edge; its rows are written one by one.
struct RowEdgeSm90 {
  int rows_end;
  __nv_bfloat16* d;  // row-major, `columns` wide, a multiple of 8
  int columns;

  __device__ bool has(int row) const { return row < rows_end; }
  __device__ bool cuts(int row) const { return row + 16 > rows_end; }
};

// Writes 16 x 64 elements of D from 32 accumulators, the upper left one at (row, column).
//
// stmatrix takes four 8 x 8 matrices: accumulators 8j .. 8j + 7 of a lane are two columns of rows
// l / 4 and l / 4 + 8 in column groups 2j and 2j + 1. Lane l gives the address of row l % 16 in
// column group 2j + l / 16. The swizzle puts the eight rows of a matrix into different banks.
template <int kBuffers, class Edge>
__device__ __forceinline__ void store_64_columns_sm90(const CUtensorMap* map, const float* d,
                                                      std::uint8_t* buffer, int row, int column,
                                                      const Edge& edge) {
  if (!edge.has(row)) return;
  const int lane = threadIdx.x % 32;
  const std::uint32_t lane_row = lane % 16;
  const std::uint32_t address = ptx::shared_address(buffer);
  // The store that used this buffer last: a warp's calls take its buffers in turns, also from tile
  // to tile, for each tile has a multiple of kBuffers calls, of which all or none return above.
  if (lane == 0) ptx::bulk_wait_read<kBuffers - 1>();
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
    ptx::stmatrix_x4(address + lane_row * 128 + ((group ^ lane_row % 8) * 16), packed);
  }
  if constexpr (!std::is_same_v<Edge, NoEdgeSm90>) {
    if (edge.cuts(row)) {
      __syncwarp();
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t r = i * 4 + lane / 8, group = lane % 8;
        const uint4 eight = ptx::load_shared_v4(address + r * 128 + ((group ^ r % 8) * 16));
        const int at_row = row + static_cast<int>(r), at = column + static_cast<int>(group) * 8;
        if (edge.has(at_row) && at < edge.columns)
          *reinterpret_cast<uint4*>(edge.d + std::int64_t{at_row} * edge.columns + at) = eight;
      }
      // An empty group stands for the store, so that waits count on. TMA may read the buffer next.
      ptx::fence_proxy_async_shared();
      __syncwarp();
      if (lane == 0) ptx::bulk_commit();
      return;
    }
  }
  ptx::fence_proxy_async_shared();
  __syncwarp();
  if (lane == 0) {
    ptx::tma_store_2d(map, buffer, column, row);
    ptx::bulk_commit();
  }
}

}  // namespace assay::kernels

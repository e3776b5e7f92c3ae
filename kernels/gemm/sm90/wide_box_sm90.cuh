// SPDX-License-Identifier: Apache-2.0
// Where a lane of the Hopper matrix product has f32 results, or values of C, in a box of 128-byte
// rows of D under the 128-byte swizzle: 16-byte unit u of row r lies at unit u ^ r % 8. Lanes that
// access it together have banks of their own.
#pragma once

namespace assay::kernels {

// The bytes before accumulators i and i + 1, i < 16 and even, two neighbours in one of the warp's
// rows. The box begins with those, and with the first of 32 columns.
__device__ inline int wide_pair_at(int i) {
  const int lane = static_cast<int>(threadIdx.x % 32), row = lane / 4;
  return (row + i % 4 / 2 * 8) * 128 + (lane % 4 * 8 ^ row * 16 ^ i / 4 * 32);
}

// The bytes before accumulator i of a swapped tile. Its columns are rows of the box, which has 32
// of its rows: two warps'.
__device__ inline int wide_value_at(int i) {
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int row = lane % 4 * 2 + i % 2;
  return (i / 4 * 8 + row) * 128 + ((warp % 2 * 64 + i % 4 / 2 * 32 + lane / 4 * 4) ^ row * 16);
}

}  // namespace assay::kernels

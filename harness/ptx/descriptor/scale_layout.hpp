// SPDX-License-Identifier: Apache-2.0
// Where the scales of block-scaled matrix products lie: in global and shared memory, in tensor
// memory (tcgen05.mma, sm_100a on), and in the registers of a warp (mma.sync, sm_120a on).
//
// A row of A, or a column of B, has one scale, a byte, for every 32 or 16 elements along K: "row"
// and "block" below. One MMA takes 1, 2 or 4 of a row's scales: .scale_vec::1X, 2X, 4X.
#pragma once
#include <cstdint>
#include <stdexcept>

namespace assay::ptx {

// Memory, as cuBLAS wants it and tcgen05.cp.32x128b.warpx4 copies it. Tiles of 128 rows x 4 blocks
// are 512 bytes that follow each other along K first; in a tile rows 0, 32, 64 and 96 are
// neighbours:
//
//   bits 0-1  block % 4      bits 2-3  row / 32 % 4      bits 4-8  row % 32
//
// Rows and blocks are padded to whole tiles. cuBLAS 13.0, "1D Block Scaling Factors Layout".
inline constexpr std::uint32_t kScaleTileRows = 128, kScaleTileBlocks = 4, kScaleTileBytes = 512;

constexpr std::uint64_t scale_tiles_along_k(std::uint32_t blocks) {
  return (std::uint64_t{blocks} + kScaleTileBlocks - 1) / kScaleTileBlocks;
}

// Bytes of the scales of so many rows with so many blocks each.
constexpr std::uint64_t scale_bytes(std::uint32_t rows, std::uint32_t blocks) {
  const std::uint64_t tiles_along_rows =
      (std::uint64_t{rows} + kScaleTileRows - 1) / kScaleTileRows;
  return tiles_along_rows * scale_tiles_along_k(blocks) * kScaleTileBytes;
}

// Where a scale lies in a matrix of `blocks` blocks a row. Throws std::invalid_argument (at compile
// time: does not compile) beyond them.
constexpr std::uint64_t scale_offset(std::uint32_t row, std::uint32_t block, std::uint32_t blocks) {
  if (block >= blocks) throw std::invalid_argument("a row has fewer blocks");
  const std::uint64_t tile =
      row / kScaleTileRows * scale_tiles_along_k(blocks) + block / kScaleTileBlocks;
  return tile * kScaleTileBytes + row % 32 * 16 + row % kScaleTileRows / 32 * 4 +
         block % kScaleTileBlocks;
}

enum class ScaleVector : std::uint8_t { x1 = 1, x2 = 2, x4 = 4 };

// Which byte of a 32-bit word holds scale `index` of an MMA's row, if its first one is in byte
// `first`, which the instruction names: 0 to 3 for 1X, 0 or 2 for 2X, 0 for 4X.
constexpr int scale_byte(ScaleVector vector, int first, int index) {
  const int count = static_cast<int>(vector);
  if (index < 0 || index >= count) throw std::invalid_argument("the MMA takes fewer scales");
  if (first < 0 || first > 3 || first % count != 0)
    throw std::invalid_argument("an MMA's scales are aligned to their number");
  return first + index;
}

// Tensor memory. Every 32 rows take a column, a row to a lane; the 32 lanes of each of the other
// three quarters hold the same again. `first` is BlockScales::a_byte or b_byte of the instruction
// descriptor. PTX ISA 9.0, 9.7.16.10.7 "Block Scaling": "Layout of the Scale Factor A Matrix for
// scale_vec::1X", "2X", "4X", and of B. (K = 96 has layouts of its own.)
struct TensorMemoryByte {
  int lane;    // of the first quarter: also of lanes 32, 64 and 96 further on
  int column;  // after the address that the MMA is given
  int byte;
  bool operator==(const TensorMemoryByte&) const = default;
};
constexpr TensorMemoryByte tensor_memory_scale(ScaleVector vector, int first, int row, int index) {
  if (row < 0 || row >= 256) throw std::invalid_argument("an MMA has at most 256 rows");
  return {.lane = row % 32, .column = row / 32, .byte = scale_byte(vector, first, index)};
}

// A warp's registers. Of each quad of lanes, which holds what row % 8 of the fragments says, A's
// scales come from one pair, rows 0-7 from its even and 8-15 from its odd lane: lanes 0 and 1 of
// the quad for thread-id-a 0, 2 and 3 for 1. B's scales come from lane thread-id-b of the quad of
// their column. `first` is byte-id-a or byte-id-b. PTX ISA 9.0, 9.7.14.3 "Block Scaling for
// mma.sync", whose figures 43 and 44 agree with SFALayout and SFBLayout in CUTLASS's
// cute/atom/mma_traits_sm120.hpp.
struct WarpByte {
  int lane, byte;
  bool operator==(const WarpByte&) const = default;
};
constexpr WarpByte warp_scale_a(ScaleVector vector, int first, int thread_id, int row, int index) {
  if (row < 0 || row >= 16) throw std::invalid_argument("A of mma.sync has 16 rows");
  if (thread_id < 0 || thread_id > 1) throw std::invalid_argument("thread-id-a is 0 or 1");
  return {.lane = row % 8 * 4 + thread_id * 2 + row / 8, .byte = scale_byte(vector, first, index)};
}
constexpr WarpByte warp_scale_b(ScaleVector vector, int first, int thread_id, int column,
                                int index) {
  if (column < 0 || column >= 8) throw std::invalid_argument("B of mma.sync has 8 columns");
  if (thread_id < 0 || thread_id > 3) throw std::invalid_argument("thread-id-b is 0 to 3");
  return {.lane = column * 4 + thread_id, .byte = scale_byte(vector, first, index)};
}

}  // namespace assay::ptx

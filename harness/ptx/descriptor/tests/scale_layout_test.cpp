// SPDX-License-Identifier: Apache-2.0
#include "harness/ptx/descriptor/scale_layout.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace assay::ptx {
namespace {

using enum ScaleVector;

// Every bit of a row and of a block moves one bit of the offset: the 32 x 4 x 4 interleave.
TEST(ScaleLayout, BitsOfATileInMemory) {
  constexpr std::uint64_t kRowBits[] = {16, 32, 64, 128, 256, 4, 8};
  for (int bit = 0; bit < 7; ++bit) EXPECT_EQ(scale_offset(1u << bit, 0, 4), kRowBits[bit]) << bit;
  EXPECT_EQ(scale_offset(0, 1, 4), 1u);
  EXPECT_EQ(scale_offset(0, 2, 4), 2u);
  static_assert(scale_offset(127, 3, 4) == 511);
}

// Against the formula as cuBLAS prints it.
TEST(ScaleLayout, TilesInMemoryFollowEachOtherAlongK) {
  constexpr std::uint32_t kRows = 384, kBlocks = 12;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      const std::uint32_t outer = row % 128, inner = block % 4;
      const std::uint32_t tile = (block - inner + (row - outer) / 128 * kBlocks) * 128;
      EXPECT_EQ(scale_offset(row, block, kBlocks), tile + outer % 32 * 16 + outer / 32 * 4 + inner);
    }
  }
  EXPECT_EQ(scale_bytes(kRows, kBlocks), std::uint64_t{kRows} * kBlocks);
}

TEST(ScaleLayout, MemoryIsPaddedToWholeTiles) {
  static_assert(scale_bytes(1, 1) == 512);
  EXPECT_EQ(scale_bytes(129, 5), 4u * 512);
  EXPECT_EQ(scale_offset(128, 0, 5), 2u * 512);  // after two tiles along K
  EXPECT_EQ(scale_offset(0, 4, 5), 512u);
  EXPECT_THROW(scale_offset(0, 5, 5), std::invalid_argument);
  std::set<std::uint64_t> used;
  for (std::uint32_t row = 0; row < 130; ++row)
    for (std::uint32_t block = 0; block < 5; ++block) used.insert(scale_offset(row, block, 5));
  EXPECT_EQ(used.size(), 130u * 5);
  EXPECT_LT(*used.rbegin(), scale_bytes(130, 5));
}

TEST(ScaleLayout, AWordHoldsOneOrTwoOrFourOfARow) {
  for (int first = 0; first < 4; ++first) EXPECT_EQ(scale_byte(x1, first, 0), first);
  EXPECT_EQ(scale_byte(x2, 0, 1), 1);
  EXPECT_EQ(scale_byte(x2, 2, 0), 2);
  EXPECT_EQ(scale_byte(x2, 2, 1), 3);
  for (int index = 0; index < 4; ++index) EXPECT_EQ(scale_byte(x4, 0, index), index);
  EXPECT_THROW(scale_byte(x1, 4, 0), std::invalid_argument);
  EXPECT_THROW(scale_byte(x1, 0, 1), std::invalid_argument);
  EXPECT_THROW(scale_byte(x2, 1, 0), std::invalid_argument);
  EXPECT_THROW(scale_byte(x4, 2, 0), std::invalid_argument);
}

TEST(ScaleLayout, TensorMemoryHasARowToALane) {
  static_assert(tensor_memory_scale(x1, 0, 0, 0) == TensorMemoryByte{0, 0, 0});
  EXPECT_EQ(tensor_memory_scale(x1, 3, 31, 0), (TensorMemoryByte{31, 0, 3}));
  EXPECT_EQ(tensor_memory_scale(x2, 2, 32, 1), (TensorMemoryByte{0, 1, 3}));
  EXPECT_EQ(tensor_memory_scale(x4, 0, 127, 2), (TensorMemoryByte{31, 3, 2}));
  EXPECT_EQ(tensor_memory_scale(x4, 0, 255, 3), (TensorMemoryByte{31, 7, 3}));  // of a wide B
  EXPECT_THROW(tensor_memory_scale(x1, 0, 256, 0), std::invalid_argument);
}

// tcgen05.cp.32x128b.warpx4 copies 16 bytes to each of 32 lanes, four columns, four times.
TEST(ScaleLayout, ACopyOfATileIsWhatTheMmaReads) {
  for (std::uint32_t row = 0; row < 128; ++row) {
    for (std::uint32_t block = 0; block < 4; ++block) {
      const auto at = static_cast<int>(scale_offset(row, block, 4));
      EXPECT_EQ(tensor_memory_scale(x1, static_cast<int>(block), static_cast<int>(row), 0),
                (TensorMemoryByte{at / 16, at % 16 / 4, at % 4}));
    }
  }
}

TEST(ScaleLayout, BitsOfAWarpsLanes) {
  constexpr int kRowBits[] = {4, 8, 16, 1};
  for (int bit = 0; bit < 4; ++bit)
    EXPECT_EQ(warp_scale_a(x1, 0, 0, 1 << bit, 0).lane, kRowBits[bit]) << bit;
  EXPECT_EQ(warp_scale_a(x1, 0, 1, 0, 0).lane, 2);
  for (int bit = 0; bit < 3; ++bit)
    EXPECT_EQ(warp_scale_b(x1, 0, 0, 1 << bit, 0).lane, 4 << bit) << bit;
  for (int thread = 0; thread < 4; ++thread)
    EXPECT_EQ(warp_scale_b(x1, 0, thread, 0, 0).lane, thread);
  static_assert(warp_scale_a(x2, 2, 1, 15, 1) == WarpByte{31, 3});
  static_assert(warp_scale_b(x4, 0, 3, 7, 2) == WarpByte{31, 2});
}

// Four selections of a byte and two or four of a thread together use every byte of every lane once.
TEST(ScaleLayout, SelectorsShareAWarpsRegistersOut) {
  for (const ScaleVector vector : {x1, x2, x4}) {
    const int count = static_cast<int>(vector);
    std::set<std::tuple<int, int>> a, b;
    for (int first = 0; first < 4; first += count)
      for (int index = 0; index < count; ++index) {
        for (int thread = 0; thread < 2; ++thread)
          for (int row = 0; row < 16; ++row) {
            const WarpByte at = warp_scale_a(vector, first, thread, row, index);
            a.emplace(at.lane, at.byte);
          }
        for (int thread = 0; thread < 4; ++thread)
          for (int column = 0; column < 8; ++column) {
            const WarpByte at = warp_scale_b(vector, first, thread, column, index);
            b.emplace(at.lane, at.byte);
          }
      }
    EXPECT_EQ(a.size(), 32u * 4);
    EXPECT_EQ(b.size(), 32u * 4);
  }
}

TEST(ScaleLayout, RefusesSelectorsThatTheIsaLacks) {
  EXPECT_THROW(warp_scale_a(x1, 0, 2, 0, 0), std::invalid_argument);
  EXPECT_THROW(warp_scale_b(x1, 0, 4, 0, 0), std::invalid_argument);
  EXPECT_THROW(warp_scale_a(x1, 0, 0, 16, 0), std::invalid_argument);
  EXPECT_THROW(warp_scale_b(x1, 0, 0, 8, 0), std::invalid_argument);
}

}  // namespace
}  // namespace assay::ptx

// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tensor_memory/copy.hpp"

#include <gtest/gtest.h>

#include <map>

#include "harness/model/tensor_memory/cell.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

// Lane -> source row, which is given once.
std::map<int, int> lanes(TensorCopyShape shape) {
  std::map<int, int> rows;
  const TensorCopyExtent extent = extent_of(shape);
  for (int row = 0; row < extent.rows; ++row)
    for (int copy = 0; copy < extent.copies; ++copy)
      EXPECT_TRUE(rows.emplace(lane_of_row(shape, row, copy), row).second);
  return rows;
}

// 9.7.16.9.2 "tcgen05.cp".
TEST(ModelTensorCopy, WholeRowsGoToTheirLanes) {
  for (const auto shape : {TensorCopyShape::s128x256b, TensorCopyShape::s128x128b}) {
    const auto rows = lanes(shape);
    EXPECT_EQ(rows.size(), 128u);
    for (const auto& [lane, row] : rows) EXPECT_EQ(lane, row);
  }
  EXPECT_EQ(extent_of(TensorCopyShape::s128x256b).columns, 8);
  EXPECT_EQ(extent_of(TensorCopyShape::s128x128b).columns, 4);
}

// ".warpx2::02_13: warps 0 and 2 form a pair; warps 1 and 3 form a pair", and each warp in a pair
// receives the same half of the data.
TEST(ModelTensorCopy, PairsOfWarpsGetTheSameHalf) {
  const auto across = lanes(TensorCopyShape::s64x128b_02_13);
  const auto adjacent = lanes(TensorCopyShape::s64x128b_01_23);
  EXPECT_EQ(across.size(), 128u);
  EXPECT_EQ(adjacent.size(), 128u);
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(across.at(lane), across.at(lane + 64));
    EXPECT_EQ(across.at(lane + 32), across.at(lane + 96));
    EXPECT_EQ(across.at(lane), lane);
    EXPECT_EQ(across.at(lane + 32), lane + 32);
    EXPECT_EQ(adjacent.at(lane), adjacent.at(lane + 32));
    EXPECT_EQ(adjacent.at(lane + 64), adjacent.at(lane + 96));
    EXPECT_EQ(adjacent.at(lane), lane);
    EXPECT_EQ(adjacent.at(lane + 64), lane + 32);
  }
}

// ".warpx4: the data being copied is multicasted into all 4 warps".
TEST(ModelTensorCopy, FourWarpsGetTheSame) {
  for (const auto& [lane, row] : lanes(TensorCopyShape::s32x128b_warpx4)) EXPECT_EQ(row, lane % 32);
}

TEST(ModelTensorCopy, FourRowsGoToALaneOfEachWarp) {
  EXPECT_EQ(lanes(TensorCopyShape::s4x256b),
            (std::map<int, int>{{0, 0}, {32, 1}, {64, 2}, {96, 3}}));
  EXPECT_NO_THROW(check_copy(TensorCopyShape::s4x256b, tensor_address({31, 0})));
  EXPECT_THROW(check_copy(TensorCopyShape::s4x256b, tensor_address({32, 0})), Violation);
  EXPECT_THROW(check_copy(TensorCopyShape::s128x256b, tensor_address({0, 505})), Violation);
}

// 9.7.16.9.1: sixteen elements and their padding become sixteen bytes; figures 195, 197, 198.
TEST(ModelTensorCopy, DecompressionPutsAnElementInEveryByte) {
  std::array<std::uint8_t, 16> four{}, six{};
  for (unsigned i = 0; i < 16; ++i) {
    four[i / 2] = static_cast<std::uint8_t>(four[i / 2] | (i ^ 5) << i % 2 * 4);
    const unsigned at = i * 6, value = (i * 5 + 3) & 63;
    six[at / 8] = static_cast<std::uint8_t>(six[at / 8] | value << at % 8);
    if (at % 8 > 2)
      six[at / 8 + 1] = static_cast<std::uint8_t>(six[at / 8 + 1] | value >> (8 - at % 8));
  }
  for (unsigned i = 8; i < 16; ++i) four[i] = 0xff;
  for (unsigned i = 12; i < 16; ++i) six[i] = 0xff;
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(decompress(Decompression::b4x16_p64, four)[i], (i ^ 5) << 2);
    EXPECT_EQ(decompress(Decompression::b6x16_p32, six)[i], (i * 5 + 3) & 63);
  }
}

// 9.7.16.9.3: all rows of a warp but the last.
TEST(ModelTensorCopy, ShiftsMoveAllLanesButTheLast) {
  for (int lane = 0; lane < 128; ++lane)
    EXPECT_EQ(shift_source(lane), lane % 32 == 31 ? lane : lane + 1);
  EXPECT_NO_THROW(check_shift(tensor_address({96, 504})));
  EXPECT_THROW(check_shift(tensor_address({16, 0})), Violation);
  EXPECT_THROW(check_shift(tensor_address({0, 505})), Violation);
}

// 9.7.16.3 and 9.7.16.10.6: core matrices of eight rows of 16 bytes, or swizzled rows.
TEST(ModelTensorCopy, SourcesAreKMajor) {
  const ptx::MatrixDescriptor plain{0x400, 128, 256, ptx::Swizzle::none};
  EXPECT_EQ(copy_source(plain, 3, 0), 0x400u + 48);
  EXPECT_EQ(copy_source(plain, 13, 1), 0x400u + 256 + 5 * 16 + 128);
  const ptx::MatrixDescriptor swizzled{0x400, 16, 1024, ptx::Swizzle::bytes128};
  EXPECT_EQ(copy_source(swizzled, 9, 1), 0x800u + 128);
  EXPECT_EQ(copy_source(swizzled, 2, 0), 0x400u + 256 + 32);
}

}  // namespace
}  // namespace assay::model

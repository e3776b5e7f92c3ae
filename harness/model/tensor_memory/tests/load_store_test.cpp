// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tensor_memory/load_store.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

constexpr TensorShape kShapes[] = {TensorShape::s32x32b, TensorShape::s16x64b,
                                   TensorShape::s16x128b, TensorShape::s16x256b,
                                   TensorShape::s16x32bx2};

// 9.7.16.1.1 "Tensor Memory Addressing".
TEST(ModelTensorLoad, AddressesHoldLaneAndColumn) {
  EXPECT_EQ(tensor_cell(0x00400123), (TensorCell{64, 0x123}));
  EXPECT_EQ(tensor_address({64, 0x123}), 0x00400123u);
}

// 9.7.16.8.3, Table 49: registers of a thread; what it marks NA is more than 128.
TEST(ModelTensorLoad, RegistersAreThoseOfTable49) {
  EXPECT_EQ(registers_of(TensorShape::s32x32b, 128), 128);
  EXPECT_EQ(registers_of(TensorShape::s16x64b, 4), 4);
  EXPECT_EQ(registers_of(TensorShape::s16x32bx2, 8), 8);
  EXPECT_EQ(registers_of(TensorShape::s16x128b, 64), 128);
  EXPECT_EQ(registers_of(TensorShape::s16x256b, 32), 128);
  EXPECT_THROW(check({.shape = TensorShape::s16x128b, .repeat = 128}, 0), Violation);
  EXPECT_THROW(check({.shape = TensorShape::s16x256b, .repeat = 64}, 0), Violation);
  EXPECT_THROW(check({.shape = TensorShape::s32x32b, .repeat = 3}, 0), Violation);
}

// 9.7.16.2.3.1: every cell of lanes x (size * num) bits is one register of one thread.
TEST(ModelTensorLoad, EachCellIsOneRegister) {
  for (const TensorShape shape : kShapes) {
    for (int repeat = 1; registers_of(shape, repeat) <= 128; repeat *= 2) {
      for (const bool pack : {false, true}) {
        const int width = columns_of(shape) * repeat;
        const TensorAccess access{shape, repeat, pack, tensor_address({32, 64}), 2 * width};
        std::set<std::pair<int, int>> cells;
        for (int thread = 0; thread < 32; ++thread) {
          for (int index = 0; index < registers_of(shape, repeat); ++index) {
            const TensorCell cell = register_cell(access, thread, index);
            EXPECT_GE(cell.lane, 32);
            EXPECT_LT(cell.lane, 32 + lanes_of(shape));
            EXPECT_TRUE(cells.emplace(cell.lane, cell.column).second);
          }
        }
        const int halves = shape == TensorShape::s16x32bx2 ? 2 : 1, step = pack ? 2 : 1;
        EXPECT_EQ(cells.size(), static_cast<std::size_t>(lanes_of(shape) * width * halves));
        for (int lane = 32; lane < 32 + lanes_of(shape); ++lane)
          for (int half = 0; half < halves; ++half)
            for (int i = 0; i < width; ++i)
              EXPECT_TRUE(cells.contains({lane, 64 + half * 2 * width + i * step}));
      }
    }
  }
}

TensorCell cell(TensorShape shape, int thread, int index) {
  return register_cell({.shape = shape, .repeat = 4, .half_split = 100}, thread, index);
}

// Figure 183.
TEST(ModelTensorLoad, Shape32x32bGivesAThreadItsLane) {
  EXPECT_EQ(cell(TensorShape::s32x32b, 5, 3), (TensorCell{5, 3}));
}

// Figure 184.
TEST(ModelTensorLoad, Shape16x64bSpreadsAQuadOverTwoLanes) {
  EXPECT_EQ(cell(TensorShape::s16x64b, 0, 0), (TensorCell{0, 0}));
  EXPECT_EQ(cell(TensorShape::s16x64b, 1, 0), (TensorCell{8, 0}));
  EXPECT_EQ(cell(TensorShape::s16x64b, 2, 0), (TensorCell{0, 1}));
  EXPECT_EQ(cell(TensorShape::s16x64b, 3, 0), (TensorCell{8, 1}));
  EXPECT_EQ(cell(TensorShape::s16x64b, 4, 0), (TensorCell{1, 0}));
  EXPECT_EQ(cell(TensorShape::s16x64b, 31, 2), (TensorCell{15, 5}));
}

// Figure 185.
TEST(ModelTensorLoad, Shape16x128bGivesAQuadALane) {
  EXPECT_EQ(cell(TensorShape::s16x128b, 5, 0), (TensorCell{1, 1}));
  EXPECT_EQ(cell(TensorShape::s16x128b, 5, 1), (TensorCell{9, 1}));
  EXPECT_EQ(cell(TensorShape::s16x128b, 5, 2), (TensorCell{1, 5}));
}

// Figure 186: as the accumulators of mma.sync, whose rows are lanes.
TEST(ModelTensorLoad, Shape16x256bIsTheFragmentOfMmaSync) {
  for (int thread = 0; thread < 32; ++thread)
    for (int index = 0; index < 4; ++index)
      EXPECT_EQ(cell(TensorShape::s16x256b, thread, index),
                (TensorCell{thread / 4 + index / 2 * 8, thread % 4 * 2 + index % 2}));
  EXPECT_EQ(cell(TensorShape::s16x256b, 6, 13), (TensorCell{1, 8 * 3 + 5}));
}

// Figure 187: the second half of the threads from taddr + immHalfSplitoff on.
TEST(ModelTensorLoad, Shape16x32bx2HasTwoAddresses) {
  EXPECT_EQ(cell(TensorShape::s16x32bx2, 5, 2), (TensorCell{5, 2}));
  EXPECT_EQ(cell(TensorShape::s16x32bx2, 21, 2), (TensorCell{5, 102}));
}

// 9.7.16.8.2, Figure 193.
TEST(ModelTensorLoad, PackedRegistersStandForTwoColumns) {
  EXPECT_EQ(register_cell({.shape = TensorShape::s32x32b, .repeat = 4, .pack = true}, 7, 3),
            (TensorCell{7, 6}));
  EXPECT_NO_THROW(check({.shape = TensorShape::s32x32b, .repeat = 128, .pack = true}, 0));
  EXPECT_THROW(check({.shape = TensorShape::s16x64b, .repeat = 128, .pack = true, .address = 1}, 0),
               Violation);
}

// 9.7.16.8.1 "Access restrictions".
TEST(ModelTensorLoad, AWarpHasAQuarterOfTheLanes) {
  for (int warp = 0; warp < 4; ++warp) {
    for (int lane = 0; lane < 128; lane += 16) {
      const std::uint32_t address = tensor_address({lane, 0});
      const TensorAccess whole{.shape = TensorShape::s32x32b, .address = address};
      const TensorAccess half{.shape = TensorShape::s16x64b, .address = address};
      if (lane == 32 * warp) {
        EXPECT_NO_THROW(check(whole, warp));
      } else {
        EXPECT_THROW(check(whole, warp), Violation);
      }
      if (lane / 32 == warp) {
        EXPECT_NO_THROW(check(half, warp));
      } else {
        EXPECT_THROW(check(half, warp), Violation);
      }
    }
  }
  EXPECT_THROW(
      check({.shape = TensorShape::s32x32b, .repeat = 64, .address = tensor_address({0, 449})}, 0),
      Violation);
}

}  // namespace
}  // namespace assay::model

// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tensor_memory/layout.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace assay::model {
namespace {

constexpr MmaShape kShapes[] = {{.m = 256, .n = 64, .ctas = 2},                  // A
                                {.m = 128, .n = 64, .ctas = 2},                  // B
                                {.m = 128, .n = 64, .ctas = 2, .sparse = true},  // C
                                {.m = 128, .n = 64},                             // D
                                {.m = 64, .n = 64, .ws = true},                  // E
                                {.m = 64, .n = 64},                              // F
                                {.m = 32, .n = 64, .ws = true}};                 // G

// The table of 9.7.16.10.5 "Data Path Layout Organization".
TEST(ModelMmaLayout, IsChosenByMCtasSparsityAndWs) {
  for (std::size_t i = 0; i < std::size(kShapes); ++i)
    EXPECT_EQ(static_cast<std::size_t>(data_path(kShapes[i])), i);
  EXPECT_EQ(data_path({.m = 256, .n = 64, .ctas = 2, .sparse = true}), DataPath::a);
  EXPECT_EQ(data_path({.m = 128, .n = 64, .sparse = true, .ws = true}), DataPath::d);
  EXPECT_THROW(data_path({.m = 32, .n = 64}), std::invalid_argument);
  EXPECT_THROW(data_path({.m = 256, .n = 64}), std::invalid_argument);
  EXPECT_THROW(data_path({.m = 64, .n = 64, .ctas = 2}), std::invalid_argument);
}

// 9.7.16.10.5.1 to .7: every element has a cell of its own; the datapath is used whole, but for the
// layouts C and F, which use half of it.
TEST(ModelMmaLayout, DFillsItsColumns) {
  for (const MmaShape& s : kShapes) {
    std::set<std::tuple<int, int, int>> cells;
    for (int row = 0; row < s.m; ++row) {
      for (int column = 0; column < s.n; ++column) {
        const MmaCell cell = d_cell(s, row, column);
        EXPECT_LT(cell.lane, 128);
        EXPECT_LT(cell.column, d_columns(s));
        EXPECT_EQ(cell.cta, row / (s.m / s.ctas));
        EXPECT_TRUE(cells.emplace(cell.cta, cell.lane, cell.column).second);
      }
    }
    const DataPath path = data_path(s);
    const int lanes = path == DataPath::c || path == DataPath::f ? 64 : 128;
    EXPECT_EQ(cells.size(), static_cast<std::size_t>(s.ctas * lanes * d_columns(s)));
  }
}

TEST(ModelMmaLayout, DOfEachLayout) {
  EXPECT_EQ(d_cell(kShapes[0], 200, 5), (MmaCell{1, 72, 5}));
  EXPECT_EQ(d_cell(kShapes[1], 70, 40), (MmaCell{1, 64 + 6, 8}));
  EXPECT_EQ(d_cell(kShapes[2], 64 + 20, 40), (MmaCell{1, 32 + 4, 40}));
  EXPECT_EQ(d_cell(kShapes[3], 100, 63), (MmaCell{0, 100, 63}));
  EXPECT_EQ(d_cell(kShapes[4], 10, 33), (MmaCell{0, 74, 1}));
  EXPECT_EQ(d_cell(kShapes[5], 63, 7), (MmaCell{0, 96 + 15, 7}));
  EXPECT_EQ(d_cell(kShapes[6], 31, 17), (MmaCell{0, 63, 1}));
}

// 9.7.16.10.4.3 and .5: containers packed along the columns.
TEST(ModelMmaLayout, AIsPackedIntoWords) {
  EXPECT_EQ(a_cell(kShapes[3], 5, 3, 16), (PackedCell{{0, 5, 1}, 16}));
  EXPECT_EQ(a_cell(kShapes[3], 5, 7, 32), (PackedCell{{0, 5, 7}, 0}));
  EXPECT_EQ(a_cell(kShapes[3], 5, 6, 8), (PackedCell{{0, 5, 1}, 16}));
  EXPECT_EQ(a_cell(kShapes[3], 5, 13, 4), (PackedCell{{0, 5, 1}, 20}));
  EXPECT_EQ(a_cell(kShapes[5], 20, 0, 16).cell, (MmaCell{0, 36, 0})) << "as D: 9.7.16.10.8.5";
}

TEST(ModelMmaLayout, EveryPartOfTheLanesHasAllOfA) {
  for (const MmaShape& s : kShapes) {
    std::set<std::pair<int, int>> lanes;
    for (int row = 0; row < s.m; ++row) {
      for (int copy = 0; copy < a_copies(s); ++copy) {
        const MmaCell cell = a_cell(s, row, 0, 16, copy).cell;
        EXPECT_TRUE(lanes.emplace(cell.cta, cell.lane).second);
        // What multiplies into a lane of D is the row of A in that lane.
        bool found = false;
        for (int column = 0; column < s.n; ++column)
          found |= d_cell(s, row, column).lane == cell.lane;
        EXPECT_TRUE(found);
      }
    }
  }
}

// 9.7.16.10.7: "need to be duplicated to all 32 lane partitions", and the encoders' layout.
TEST(ModelMmaLayout, ScalesAreInEveryQuarter) {
  for (int copy = 0; copy < 4; ++copy) {
    EXPECT_EQ(scale_cell(ptx::ScaleVector::x1, 3, 70, 0, copy),
              (PackedCell{{0, 6 + 32 * copy, 2}, 24}));
    EXPECT_EQ(scale_cell(ptx::ScaleVector::x2, 2, 31, 1, copy),
              (PackedCell{{0, 31 + 32 * copy, 0}, 24}));
    EXPECT_EQ(scale_b_cell(kShapes[3], ptx::ScaleVector::x4, 0, 33, 2, copy),
              (PackedCell{{0, 1 + 32 * copy, 1}, 16}));
  }
}

TEST(ModelMmaLayout, ScaleAddressesMayHoldTheScaleId) {
  EXPECT_EQ(scale_address(0xc0200010), (TensorCell{32, 16}));
}

TEST(ModelMmaLayout, ScalesOfBInLayoutBLieWithTheirColumns) {
  const MmaShape s{.m = 128, .n = 256, .ctas = 2};
  for (int column = 0; column < s.n; ++column) {
    for (int copy = 0; copy < 2; ++copy) {
      const PackedCell place = scale_b_cell(s, ptx::ScaleVector::x1, 0, column, 0, copy);
      EXPECT_EQ(place.cell.lane / 64, d_cell(s, 0, column).lane / 64);
      EXPECT_LT(place.cell.column, 4);
    }
  }
  EXPECT_THROW(scale_b_cell(s, ptx::ScaleVector::x1, 0, 0, 0, 2), std::invalid_argument);
}

TEST(ModelMmaLayout, TheSelectorNamesAColumnOfAPair) {
  EXPECT_EQ(metadata_address(0x00200011, 1), (TensorCell{32, 17}));
  EXPECT_EQ(metadata_address(0x00200011, 0), (TensorCell{32, 16}));
  EXPECT_THROW(metadata_address(0, 2), std::invalid_argument);
}

// 9.7.16.10.8.4: each nibble has a place of its own, and they fill their columns.
TEST(ModelMmaLayout, MetadataFillItsColumns) {
  struct Case {
    MetadataWidth width;
    int k, group, columns;
  };
  for (const Case& c :
       {Case{MetadataWidth::tf32, 16, 2, 1}, Case{MetadataWidth::f16, 32, 4, 1},
        Case{MetadataWidth::bits8, 64, 4, 2}, Case{MetadataWidth::bits4, 128, 8, 2}}) {
    std::set<std::tuple<int, int, int>> nibbles;
    for (int row = 0; row < 128; ++row) {
      for (int k = 0; k < c.k; k += c.group) {
        const PackedCell place = metadata_cell(c.width, row, k);
        EXPECT_EQ(place.bit % 4, 0);
        EXPECT_EQ(place.cell.lane / 16, row / 16);
        EXPECT_TRUE(nibbles.emplace(place.cell.lane, place.cell.column, place.bit).second);
      }
    }
    EXPECT_EQ(nibbles.size(), static_cast<std::size_t>(128 * c.columns * 8));
  }
}

}  // namespace
}  // namespace assay::model

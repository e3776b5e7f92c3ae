// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/mma_instruction.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay::numerics {
namespace {

MmaInstruction mma_sync(const char* element, const char* accumulator, int m, int k) {
  return {Family::mma_sync, element, accumulator, m, 8, k};
}

// Entries of the tables in PTX ISA 9.0, "Matrix Fragments for mma.m*n*k*", written out for lane 13:
// groupID is 3, threadID_in_group 1.
TEST(FragmentLayout, AgreesWithThePtxIsa) {
  const MmaInstruction f16 = mma_sync("f16", "f32", 16, 16);
  using P = Position;
  EXPECT_EQ(documented_position(f16, Operand::a, {13, 0, 0}), (P{3, 2}));    // a0
  EXPECT_EQ(documented_position(f16, Operand::a, {13, 0, 1}), (P{3, 3}));    // a1
  EXPECT_EQ(documented_position(f16, Operand::a, {13, 1, 0}), (P{11, 2}));   // a2
  EXPECT_EQ(documented_position(f16, Operand::a, {13, 2, 1}), (P{3, 11}));   // a5
  EXPECT_EQ(documented_position(f16, Operand::a, {13, 3, 0}), (P{11, 10}));  // a6
  EXPECT_EQ(documented_position(f16, Operand::b, {13, 0, 1}), (P{3, 3}));    // b1
  EXPECT_EQ(documented_position(f16, Operand::b, {13, 1, 0}), (P{10, 3}));   // b2
  EXPECT_EQ(documented_position(f16, Operand::d, {13, 1, 0}), (P{3, 3}));    // c1
  EXPECT_EQ(documented_position(f16, Operand::d, {13, 2, 0}), (P{11, 2}));   // c2

  const MmaInstruction half = mma_sync("f16", "f16", 16, 16);
  EXPECT_EQ(documented_position(half, Operand::d, {13, 0, 1}), (P{3, 3}));
  EXPECT_EQ(documented_position(half, Operand::d, {13, 1, 0}), (P{11, 2}));

  const MmaInstruction s8 = mma_sync("s8", "s32", 16, 32);
  EXPECT_EQ(documented_position(s8, Operand::a, {13, 0, 3}), (P{3, 7}));    // a3
  EXPECT_EQ(documented_position(s8, Operand::a, {13, 1, 0}), (P{11, 4}));   // a4
  EXPECT_EQ(documented_position(s8, Operand::a, {13, 2, 1}), (P{3, 21}));   // a9
  EXPECT_EQ(documented_position(s8, Operand::a, {13, 3, 2}), (P{11, 22}));  // a14
  EXPECT_EQ(documented_position(s8, Operand::b, {13, 1, 3}), (P{23, 3}));   // b7
  EXPECT_EQ(documented_position(mma_sync("s8", "s32", 16, 16), Operand::a, {13, 1, 2}), (P{11, 6}));

  const MmaInstruction tf32 = mma_sync("tf32", "f32", 16, 8);
  EXPECT_EQ(documented_position(tf32, Operand::a, {13, 1, 0}), (P{11, 1}));
  EXPECT_EQ(documented_position(tf32, Operand::a, {13, 2, 0}), (P{3, 5}));
  EXPECT_EQ(documented_position(tf32, Operand::b, {13, 1, 0}), (P{5, 3}));

  const MmaInstruction f64 = mma_sync("f64", "f64", 16, 16);
  EXPECT_EQ(documented_position(f64, Operand::a, {13, 5, 0}), (P{11, 9}));  // a5: 5 * 2 - 2 + 1
  EXPECT_EQ(documented_position(f64, Operand::b, {13, 3, 0}), (P{13, 3}));
  EXPECT_EQ(documented_position(f64, Operand::d, {13, 3, 0}), (P{11, 3}));
  const MmaInstruction small = mma_sync("f64", "f64", 8, 4);
  EXPECT_EQ(documented_position(small, Operand::a, {13, 0, 0}), (P{3, 1}));
  EXPECT_EQ(documented_position(small, Operand::d, {13, 1, 0}), (P{3, 3}));

  // Thread 77 of a warpgroup: lane 13 of warp 2.
  const MmaInstruction wgmma{Family::wgmma, "e4m3", "f32", 64, 64, 32};
  EXPECT_EQ(documented_position(wgmma, Operand::a, {77, 3, 2}), (P{43, 22}));
  EXPECT_EQ(documented_position(wgmma, Operand::d, {77, 0, 0}), (P{35, 2}));
  EXPECT_EQ(documented_position(wgmma, Operand::d, {77, 6, 0}), (P{43, 10}));
  EXPECT_EQ(documented_position(wgmma, Operand::d, {77, 29, 0}), (P{35, 59}));

  // Tensor memory: a lane is a row, a column a column.
  const MmaInstruction tcgen05{Family::tcgen05, "e4m3", "f32", 128, 16, 32, false};
  EXPECT_EQ(documented_position(tcgen05, Operand::d, {77, 9, 0}), (P{77, 9}));
}

TEST(FragmentLayout, EveryElementHasOneSlot) {
  for (const MmaInstruction& i :
       {mma_sync("f16", "f32", 16, 8), mma_sync("f16", "f16", 16, 16),
        mma_sync("tf32", "f32", 16, 4), mma_sync("s8", "s32", 16, 32), mma_sync("f64", "f64", 8, 4),
        mma_sync("f64", "f64", 16, 8), MmaInstruction{Family::wgmma, "tf32", "f32", 64, 256, 8},
        MmaInstruction{Family::wgmma, "e4m3", "f16", 64, 32, 32},
        MmaInstruction{Family::tcgen05, "bf16", "f32", 128, 16, 16, false}})
    for (const Operand operand : {Operand::a, Operand::b, Operand::d}) {
      if (!i.in_registers(operand)) continue;
      std::set<std::pair<int, int>> seen;
      for (const Slot slot : i.slots(operand)) {
        const Position p = documented_position(i, operand, slot);
        EXPECT_TRUE(p.row >= 0 && p.row < i.rows(operand));
        EXPECT_TRUE(p.column >= 0 && p.column < i.columns(operand));
        seen.emplace(p.row, p.column);
      }
      EXPECT_EQ(seen.size(), i.slots(operand).size()) << i.type_name() << " " << i.shape();
      EXPECT_EQ(static_cast<int>(seen.size()), i.rows(operand) * i.columns(operand));
    }
}

// Rows of 32 bytes; every fourth row on, the two halves of a row change places.
TEST(Tile, RowsAreSwizzled) {
  const MmaInstruction both{Family::wgmma, "f16", "f32", 64, 8, 16, false};
  EXPECT_EQ(tile_bytes(both), (64 + 8) * 32);
  EXPECT_EQ(tile_offset(both, Operand::a, {0, 9}), 18);
  EXPECT_EQ(tile_offset(both, Operand::a, {4, 0}), 4 * 32 + 16);
  EXPECT_EQ(tile_offset(both, Operand::a, {8, 0}), 8 * 32);
  EXPECT_EQ(tile_offset(both, Operand::b, {1, 2}), 66 * 32 + 2);
  const MmaInstruction rs{Family::wgmma, "e4m3", "f32", 64, 16, 32};
  EXPECT_EQ(tile_bytes(rs), 16 * 32);
  EXPECT_EQ(tile_offset(rs, Operand::b, {20, 5}), 5 * 32 + 4);
}

TEST(MmaInstruction, Names) {
  EXPECT_EQ(mma_sync("f16", "f16", 16, 16).type_name(), "mma_sync/f16/acc_f16");
  EXPECT_EQ(mma_sync("f64", "f64", 8, 4).shape(), "m8n8k4");
}

}  // namespace
}  // namespace assay::numerics

// SPDX-License-Identifier: Apache-2.0
#include "harness/ptx/descriptor/swizzle.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay::ptx {
namespace {

constexpr Swizzle kAll[] = {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128,
                            Swizzle::bytes128_atoms32};

TEST(Swizzle, IsItsOwnInverseAndStaysInItsPeriod) {
  for (const Swizzle swizzle : kAll) {
    for (std::uint32_t offset = 0; offset < 4096; ++offset) {
      const std::uint32_t moved = swizzle_offset(swizzle, offset);
      EXPECT_EQ(swizzle_offset(swizzle, moved), offset);
      EXPECT_EQ(moved / swizzle_period(swizzle), offset / swizzle_period(swizzle));
      EXPECT_EQ(moved % 16, offset % 16);
    }
  }
}

TEST(Swizzle, Of128BytesXorsTheChunkWithTheRow) {
  for (std::uint32_t row = 0; row < 16; ++row) {
    for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
      EXPECT_EQ(swizzle_offset(Swizzle::bytes128, row * 128 + chunk * 16),
                row * 128 + (chunk ^ row % 8) * 16);
    }
  }
}

// The table of the ISA's "32-byte atomicity sub-mode": which 16-byte chunk lies where.
TEST(Swizzle, Of128BytesInAtomsOf32MovesPairsOfChunks) {
  constexpr std::uint32_t kTable[4][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                          {2, 3, 0, 1, 6, 7, 4, 5},
                                          {4, 5, 6, 7, 0, 1, 2, 3},
                                          {6, 7, 4, 5, 2, 3, 0, 1}};
  for (std::uint32_t row = 0; row < 16; ++row) {
    for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
      for (std::uint32_t byte = 0; byte < 16; ++byte) {
        EXPECT_EQ(swizzle_offset(Swizzle::bytes128_atoms32,
                                 row * 128 + kTable[row % 4][chunk] * 16 + byte),
                  row * 128 + chunk * 16 + byte);
      }
    }
  }
}

// Of each bit of an offset only bits 7 and 8 move others: 5 and 6.
TEST(Swizzle, Of128BytesInAtomsOf32ReadsTwoBits) {
  for (int bit = 0; bit < 20; ++bit) {
    const std::uint32_t moved = bit == 7 ? 1u << 5 : bit == 8 ? 1u << 6 : 0;
    EXPECT_EQ(swizzle_offset(Swizzle::bytes128_atoms32, 1u << bit), 1u << bit | moved) << bit;
  }
}

// What it is for: eight rows of one chunk column, as one ldmatrix or MMA phase reads them, lie in
// eight different groups of four banks.
TEST(Swizzle, SpreadsAColumnOfChunksOverTheBanks) {
  for (const Swizzle swizzle : {Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128}) {
    const std::uint32_t row_bytes = swizzle_period(swizzle) / 8;
    std::set<std::uint32_t> banks;
    for (std::uint32_t row = 0; row < 8; ++row) {
      banks.insert(swizzle_offset(swizzle, row * row_bytes) / 16 % 8);
    }
    EXPECT_EQ(banks.size(), 8u);
  }
}

}  // namespace
}  // namespace assay::ptx

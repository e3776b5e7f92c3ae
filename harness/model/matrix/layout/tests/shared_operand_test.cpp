// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/layout/shared_operand.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/model/violation.hpp"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"

namespace assay::model::matrix {
namespace {

using ptx::MatrixDescriptor;
using ptx::Swizzle;

constexpr Swizzle kWgmmaSwizzles[] = {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64,
                                      Swizzle::bytes128};

void expect_fields(const SharedOperand& o, const MatrixDescriptor& d) {
  EXPECT_EQ(o.start, d.start_address);
  EXPECT_EQ(o.leading, d.leading_byte_offset);
  EXPECT_EQ(o.stride, d.stride_byte_offset);
  EXPECT_EQ(o.base_offset, d.base_offset);
  EXPECT_EQ(o.swizzle, d.swizzle);
}

TEST(SharedOperand, TakesApartWhatTheEncodersMake) {
  for (const Swizzle swizzle : kWgmmaSwizzles) {
    const MatrixDescriptor d{0x1c400, 0x3fff0, 0x2340, swizzle, 5};
    expect_fields(wgmma_operand(ptx::encode(d)), d);
    expect_fields(tcgen05_operand(ptx::tcgen05::matrix_descriptor(d)), d);
  }
  const MatrixDescriptor atoms{0x400, 16, 512, Swizzle::bytes128_atoms32};
  const SharedOperand o =
      tcgen05_operand(ptx::tcgen05::matrix_descriptor(atoms, {.leading_is_address = true}));
  expect_fields(o, atoms);
  EXPECT_TRUE(o.leading_is_address);
  const std::uint64_t first = ptx::encode_k_major_128b(0x400);
  EXPECT_EQ(wgmma_operand(ptx::advance(first, 32)).start, 0x420u);
}

TEST(SharedOperand, RefusesReservedBits) {
  for (const int bit : {14, 15, 30, 31, 46, 47, 48, 52, 61})
    EXPECT_THROW(wgmma_operand(std::uint64_t{1} << bit), Violation) << bit;
  const std::uint64_t good = ptx::tcgen05::k_major_128b(0);
  EXPECT_THROW(tcgen05_operand(good & ~(std::uint64_t{1} << 46)), Violation);
  EXPECT_THROW(tcgen05_operand(good | std::uint64_t{1} << 61), Violation);  // swizzle 3
  EXPECT_THROW(tcgen05_operand(good | std::uint64_t{1} << 53), Violation);
}

// A tile of 16-bit elements as TMA writes it: rows of W chunks, the next eight rows right after.
// Element (row, k) is row * 256 + k.
struct Tile {
  std::vector<std::uint8_t> shared;
  void put(std::uint32_t address, int value) {
    if (shared.size() < address + 2) shared.resize((address / 1024 + 1) * 1024);
    shared[address] = static_cast<std::uint8_t>(value);
    shared[address + 1] = static_cast<std::uint8_t>(value >> 8);
  }
};

std::uint32_t row_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::bytes32 ? 32 : swizzle == Swizzle::bytes64 ? 64 : 128;
}

TEST(SharedOperand, ReadsKMajorTilesAsTmaWritesThem) {
  for (const Swizzle swizzle : {Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128}) {
    const std::uint32_t pitch = row_bytes(swizzle), start = 2048;
    const int in_row = static_cast<int>(pitch / 2), rows = 64;
    Tile tile;
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < in_row; ++k)
        tile.put(start + ptx::swizzle_offset(swizzle, static_cast<std::uint32_t>(row) * pitch +
                                                          static_cast<std::uint32_t>(k) * 2),
                 row * 256 + k);
    const std::uint64_t first = ptx::encode({start, 16, 8 * pitch, swizzle});
    for (int step = 0; step < in_row / 16; ++step) {
      std::vector<Word> elements(static_cast<std::size_t>(rows * 16));
      gather(wgmma_operand(ptx::advance(first, static_cast<std::uint32_t>(32 * step))),
             {rows, 16, row_of(Type::bf16, false)}, tile.shared, elements);
      for (int row = 0; row < rows; ++row)
        for (int k = 0; k < 16; ++k)
          ASSERT_EQ(elements[static_cast<std::size_t>(row * 16 + k)],
                    static_cast<Word>(row * 256 + 16 * step + k))
              << pitch << " row " << row << " k " << k;
    }
  }
}

// Boxes of W bytes along M or N and so many k as TMA writes them; the next 8 k follow, the next box
// along N lies at the leading offset.
TEST(SharedOperand, ReadsMnMajorTilesAsTmaWritesThem) {
  for (const Swizzle swizzle : {Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128}) {
    const std::uint32_t pitch = row_bytes(swizzle), start = 1024;
    const int in_row = static_cast<int>(pitch / 2), rows = 128, ks = 32;
    const std::uint32_t box = pitch * ks;
    Tile tile;
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < ks; ++k) {
        const std::uint32_t in_box =
            static_cast<std::uint32_t>(k) * pitch + static_cast<std::uint32_t>(row % in_row) * 2;
        tile.put(start + static_cast<std::uint32_t>(row / in_row) * box +
                     ptx::swizzle_offset(swizzle, in_box),
                 row * 256 + k);
      }
    // The second 16 k are 16 rows of the pattern on.
    const SharedOperand o =
        wgmma_operand(ptx::encode({start + 16 * pitch, box, 8 * pitch, swizzle}));
    std::vector<Word> elements(static_cast<std::size_t>(rows * 16));
    gather(o, {rows, 16, row_of(Type::f16, false), true}, tile.shared, elements);
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < 16; ++k)
        ASSERT_EQ(elements[static_cast<std::size_t>(row * 16 + k)],
                  static_cast<Word>(row * 256 + 16 + k))
            << pitch << " row " << row << " k " << k;
  }
}

// Core matrices of 8 x 16 bytes: SBO apart along M or N, LBO along K; MN-major the other way round.
TEST(SharedOperand, ReadsCoreMatrices) {
  const SharedOperand o = wgmma_operand(ptx::encode({0x100, 0x800, 0x80, Swizzle::none}));
  const OperandShape k_major{16, 16, row_of(Type::bf16, false)};
  std::map<std::pair<int, int>, std::uint32_t> at;
  for (int i = 0; i < chunk_count(k_major); ++i) {
    const Chunk c = chunk(o, k_major, i);
    at[{c.row, c.k}] = c.address;
  }
  EXPECT_EQ(at.size(), 32u);
  EXPECT_EQ((at[{3, 0}]), 0x100u + 3 * 16);
  EXPECT_EQ((at[{3, 8}]), 0x100u + 3 * 16 + 0x800);
  EXPECT_EQ((at[{9, 8}]), 0x100u + 16 + 0x80 + 0x800);
  const OperandShape mn_major{16, 16, row_of(Type::bf16, false), true};
  at.clear();
  for (int i = 0; i < chunk_count(mn_major); ++i) {
    const Chunk c = chunk(o, mn_major, i);
    at[{c.row, c.k}] = c.address;
  }
  EXPECT_EQ((at[{0, 3}]), 0x100u + 3 * 16);
  EXPECT_EQ((at[{8, 3}]), 0x100u + 3 * 16 + 0x80);
  EXPECT_EQ((at[{8, 9}]), 0x100u + 16 + 0x80 + 0x800);
}

// Every chunk is read once, whatever the type and layout, and lies where the pattern is.
TEST(SharedOperand, ReadsEachChunkOnce) {
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64,
                                Swizzle::bytes128, Swizzle::bytes128_atoms32})
    for (const bool mn_major : {false, true})
      for (const Type type : {Type::bf16, Type::tf32, Type::e4m3, Type::e2m1}) {
        const OperandShape shape{64, 256 / bits_of(type), row_of(type, false), mn_major};
        const std::uint32_t pitch = swizzle == Swizzle::none ? 16 : row_bytes(swizzle);
        const SharedOperand o{.start = 0x400,
                              .leading = 0x4000,
                              .stride = 8 * pitch,
                              .base_offset = 0,
                              .swizzle = swizzle};
        std::set<std::uint32_t> seen;
        for (int i = 0; i < chunk_count(shape); ++i) {
          const Chunk c = chunk(o, shape, i);
          EXPECT_EQ(c.address % 16, 0u);
          seen.insert(c.address);
        }
        EXPECT_EQ(static_cast<int>(seen.size()), chunk_count(shape)) << name(type);
      }
}

// A pattern that starts 384 bytes after its period: its rows count from there.
TEST(SharedOperand, CountsThePatternFromItsBaseOffset) {
  const std::uint32_t start = 1024 + 384;
  const SharedOperand o =
      wgmma_operand(ptx::encode({start, 16, 1024, Swizzle::bytes128, ptx::base_offset(start)}));
  const OperandShape shape{8, 16, row_of(Type::bf16, false)};
  for (int row = 0; row < 8; ++row)
    EXPECT_EQ(chunk(o, shape, 2 * row).address,
              start + static_cast<std::uint32_t>(row * 128 + row * 16));
}

// 48 bytes along K from byte 96 of a row: the third chunk lies at the leading dimension's address.
TEST(SharedOperand, GoesOnAtTheLeadingAddress) {
  const SharedOperand o = tcgen05_operand(ptx::tcgen05::matrix_descriptor(
      {0x460, 0x4000, 1024, Swizzle::bytes128}, {.leading_is_address = true}));
  const OperandShape shape{8, 96, row_of(Type::e2m1, false)};
  EXPECT_EQ(chunk(o, shape, 0).address, 0x460u);
  EXPECT_EQ(chunk(o, shape, 1).address, 0x470u);
  EXPECT_EQ(chunk(o, shape, 2).address, 0x4000u);
}

TEST(SharedOperand, UnpacksTypesThatAreMixed) {
  std::vector<std::uint8_t> shared(1024, 0xff);
  for (std::size_t i = 0; i < 8; ++i) shared[i] = 0x21;
  std::vector<Word> elements(8 * 32);
  gather(tcgen05_operand(ptx::tcgen05::matrix_descriptor({0, 128, 256, Swizzle::none})),
         {8, 32, row_of(Type::e2m1, true)}, shared, elements);
  EXPECT_EQ(elements[0], 1u);
  EXPECT_EQ(elements[15], 2u);
  EXPECT_EQ(elements[16], 15u);
  EXPECT_EQ(row_of(Type::e3m2, true).elements(), 16);
  EXPECT_EQ(row_of(Type::e2m1, false).elements(), 32);
}

TEST(SharedOperand, StaysInside) {
  std::vector<std::uint8_t> shared(1024);
  std::vector<Word> elements(64 * 16);
  EXPECT_THROW(gather(wgmma_operand(ptx::encode_k_major_128b(0)),
                      {64, 16, row_of(Type::bf16, false)}, shared, elements),
               Violation);
}

}  // namespace
}  // namespace assay::model::matrix

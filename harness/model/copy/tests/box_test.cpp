// SPDX-License-Identifier: Apache-2.0
#include "harness/model/copy/box.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "harness/model/copy/tests/box_reference.hpp"
#include "harness/model/violation.hpp"
#include "harness/ptx/descriptor/im2col_map.hpp"
#include "harness/ptx/descriptor/swizzle.hpp"

namespace assay::model {
namespace {

TEST(ModelBox, SwizzlesAsTheTablesDo) {
  for (int swizzle = 0; swizzle <= 6; ++swizzle)
    for (std::uint32_t address = 0; address < 4096; ++address)
      EXPECT_EQ(swizzle_address(static_cast<MapSwizzle>(swizzle), address),
                place(static_cast<MapSwizzle>(swizzle), address));
}

TEST(ModelBox, SwizzlesAsTheDescriptorsDo) {
  constexpr ptx::Swizzle kSame[] = {ptx::Swizzle::none, ptx::Swizzle::bytes32,
                                    ptx::Swizzle::bytes64, ptx::Swizzle::bytes128,
                                    ptx::Swizzle::bytes128_atoms32};
  for (int i = 0; i < 5; ++i)
    for (std::uint32_t address = 0; address < 4096; ++address)
      EXPECT_EQ(swizzle_address(static_cast<MapSwizzle>(i), address),
                ptx::swizzle_offset(kSame[i], address));
}

struct Random {
  std::mt19937 bits{12};
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(bits);
  }
};

TensorMap random_map(Random& random, int least_rank) {
  TensorMap map;
  map.rank = static_cast<int>(random(least_rank, 5));
  map.type = static_cast<MapElement>(random(0, 15));
  map.swizzle = static_cast<MapSwizzle>(random(0, 6));
  if (is_padded(map.type) && map.swizzle != MapSwizzle::none) map.swizzle = MapSwizzle::bytes128;
  map.address = 0x7f0000000000 + static_cast<std::uint64_t>(random(0, 100)) * 32;
  std::uint64_t stride = 32 * static_cast<std::uint64_t>(random(8, 12));
  for (int i = 0; i < map.rank; ++i) {
    map.extents[i] = static_cast<std::uint64_t>(random(1, 12));
    if (i > 0) map.strides[i - 1] = stride *= 16;
  }
  if (map.type == MapElement::u4x16) map.extents[0] *= 2;
  if (is_padded(map.type)) map.extents[0] *= 128;
  return map;
}

// A row's elements: whole 16 bytes, within the swizzle.
std::uint32_t random_row(Random& random, const TensorMap& map) {
  if (is_padded(map.type)) return 128;
  const std::uint32_t widths[] = {128, 32, 64, 128, 128, 128, 128};
  const std::uint32_t width = widths[static_cast<int>(map.swizzle)];
  return static_cast<std::uint32_t>(random(1, width / 16)) * 128 / shared_bits(map.type);
}

std::int32_t random_column(Random& random, const TensorMap& map) {
  if (is_padded(map.type)) return static_cast<std::int32_t>(random(-1, 3)) * 128;
  return static_cast<std::int32_t>(random(-10, 10)) * 2;
}

TEST(ModelBox, TilesAreWhatTheManualSays) {
  Random random;
  for (int run = 0; run < 150; ++run) {
    TensorMap map = random_map(random, 1);
    TensorCopy copy{.dimensions = map.rank,
                    .shared = static_cast<std::uint32_t>(random(0, 16)) * 128};
    map.box[0] = random_row(random, map);
    copy.coordinates[0] = random_column(random, map);
    for (int i = 1; i < map.rank; ++i) {
      map.box[i] = static_cast<std::uint32_t>(random(1, 5));
      map.steps[i] = static_cast<std::uint32_t>(random(1, 3));
      copy.coordinates[i] = static_cast<std::int32_t>(random(-4, 12));
    }
    ASSERT_NO_THROW(check(map, copy));
    const auto rows = tile_rows(map, copy);
    ASSERT_EQ(moved(map, copy), reference(map, copy, rows, map.box[0])) << run;
    EXPECT_EQ(transaction_bytes(map, copy), rows.size() * map.box[0] * global_bits(map.type) / 8);
  }
}

// 5.5.3.4: four rows that lie anywhere.
TEST(ModelBox, Gather4TakesTheRowsThatItIsTold) {
  Random random;
  for (int run = 0; run < 100; ++run) {
    TensorMap map = random_map(random, 5);
    map.rank = 2;
    map.box[0] = random_row(random, map);
    TensorCopy copy{.mode = CopyMode::gather4, .dimensions = 2, .shared = 0x400};
    copy.coordinates[0] = random_column(random, map);
    std::vector<Coordinates> rows;
    for (int i = 1; i <= 4; ++i) {
      copy.coordinates[i] = static_cast<std::int32_t>(random(-2, 12));
      rows.push_back({copy.coordinates[i]});
    }
    ASSERT_NO_THROW(check(map, copy));
    ASSERT_EQ(moved(map, copy), reference(map, copy, rows, map.box[0])) << run;
  }
}

TEST(ModelBox, Im2colWalksWithinTheCorners) {
  Random random;
  for (int run = 0; run < 150; ++run) {
    TensorMap map = random_map(random, 3);
    map.mode = MapMode::im2col;
    map.channels = random_row(random, map);
    map.pixels = static_cast<std::uint32_t>(random(1, 40));
    TensorCopy copy{.mode = CopyMode::im2col, .dimensions = map.rank, .shared = 0x80};
    copy.coordinates[0] = random_column(random, map);
    copy.coordinates[map.rank - 1] = static_cast<std::int32_t>(random(-1, 12));
    for (int i = 0; i < map.rank - 2; ++i) {
      map.extents[i + 1] += 6;
      map.lower[i] = static_cast<std::int32_t>(random(-3, 3));
      map.upper[i] = static_cast<std::int32_t>(random(-3, 3));
      map.steps[i + 1] = static_cast<std::uint32_t>(random(1, 3));
      copy.offsets[i] = static_cast<std::uint16_t>(random(0, 4));
      copy.coordinates[i + 1] = static_cast<std::int32_t>(
          random(map.lower[i], static_cast<int>(map.extents[i + 1]) - 1 + map.upper[i]));
    }
    ASSERT_NO_THROW(check(map, copy));
    auto rows = pixels(map, copy, map.rank - 2, 0, map.pixels);
    for (Coordinates& row : rows)
      for (int i = 0; i < map.rank - 2; ++i) row[static_cast<std::size_t>(i)] += copy.offsets[i];
    ASSERT_EQ(moved(map, copy), reference(map, copy, rows, map.channels)) << run;
    EXPECT_EQ(transaction_bytes(map, copy), map.pixels * map.channels * global_bits(map.type) / 8);
  }
}

// 5.5.5: columns only, then the next image; a halo at the end, or behind every 32 pixels of 128.
TEST(ModelBox, WideIm2colKeepsTheRow) {
  Random random;
  for (int run = 0; run < 100; ++run) {
    TensorMap map = random_map(random, 3);
    map.mode = MapMode::im2col;
    map.swizzle = MapSwizzle::bytes128;
    map.channels = random_row(random, map);
    map.pixels = static_cast<std::uint32_t>(random(1, 40));
    map.extents[1] += 6;
    map.lower[0] = static_cast<std::int32_t>(random(-3, 3));
    map.upper[0] = static_cast<std::int32_t>(random(-3, 3));
    map.steps[1] = static_cast<std::uint32_t>(random(1, 3));
    const bool blocks = random(0, 1) == 1;
    TensorCopy copy{.mode = blocks ? CopyMode::im2col_w_128 : CopyMode::im2col_w,
                    .dimensions = map.rank};
    copy.offsets = {static_cast<std::uint16_t>(random(0, 4)),
                    static_cast<std::uint16_t>(random(0, 4))};
    copy.coordinates[0] = random_column(random, map);
    for (int i = 1; i < map.rank; ++i)
      copy.coordinates[i] = static_cast<std::int32_t>(random(0, 3));
    copy.coordinates[1] = map.lower[0] - static_cast<std::int32_t>(random(0, 2));
    ASSERT_NO_THROW(check(map, copy));
    const auto all = pixels(map, copy, 1, copy.offsets[1], 128 + 512);
    std::vector<Coordinates> rows;
    const std::uint32_t block = blocks ? 32 : map.pixels;
    for (std::uint32_t first = 0; first < (blocks ? 128u : 1u); first += 32)
      for (std::uint32_t i = 0; i < block + copy.offsets[0]; ++i) rows.push_back(all[first + i]);
    ASSERT_EQ(moved(map, copy), reference(map, copy, rows, map.channels)) << run;
    EXPECT_EQ(transaction_bytes(map, copy), rows.size() * map.channels * global_bits(map.type) / 8);
  }
}

// The formula that the im2col probe checks on the device.
TEST(ModelBox, Im2colAgreesWithTheProbe) {
  ptx::Im2colShape shape{.base = reinterpret_cast<void*>(0x10000),
                         .images = 2,
                         .rows = 7,
                         .columns = 9,
                         .image_channels = 64,
                         .pixels = 32};
  TensorMap map{.mode = MapMode::im2col, .rank = 4, .address = 0x10000};
  map.extents = {64, 9, 7, 2, 1};
  map.strides = {128, 9 * 128, 63 * 128};
  map.swizzle = MapSwizzle::bytes128;
  map.lower = {-1, -1, 0}, map.upper = {-1, -1, 0};
  map.channels = 64, map.pixels = 32;
  for (int first = 0; first < 126; first += 32) {
    for (int tap = 0; tap < 9; ++tap) {
      TensorCopy copy{.mode = CopyMode::im2col, .dimensions = 4};
      copy.coordinates = {0, first % 63 % 9 - 1, first % 63 / 9 - 1, first / 63, 0};
      copy.offsets = {static_cast<std::uint16_t>(tap % 3), static_cast<std::uint16_t>(tap / 3), 0};
      check(map, copy);
      const Bytes bytes = moved(map, copy);
      for (int pixel = 0; pixel < 32; ++pixel) {
        const std::int64_t element = shape.source(first, pixel, tap / 3, tap % 3);
        const std::uint32_t at =
            ptx::swizzle_offset(ptx::Swizzle::bytes128, static_cast<std::uint32_t>(pixel) * 128);
        const bool past = first + pixel >= 126;
        EXPECT_EQ(bytes.at(at), element < 0 || past
                                    ? kOutside
                                    : 0x10000 + static_cast<std::uint64_t>(element) * 2);
      }
    }
  }
}

TEST(ModelBox, PiecesWithoutSwizzleAreLong) {
  TensorMap map{.rank = 2, .address = 0x1000, .extents = {64, 32, 1, 1, 1}, .strides = {128}};
  map.box = {64, 16, 1, 1, 1};
  std::vector<Piece> pieces;
  TensorCopy copy{.dimensions = 2, .coordinates = {0, 24}, .shared = 256};
  for_each_piece(map, copy, [&](const Piece& piece) { pieces.push_back(piece); });
  EXPECT_EQ(pieces, (std::vector<Piece>{{256, 1024, 0x1000 + 24 * 128, PieceKind::copy},
                                        {1280, 1024, 0, PieceKind::outside}}));
}

// An interleave of 16 bytes: slices lie one after another along dimension 0.
TEST(ModelBox, InterleavedMapsMoveSlices) {
  TensorMap map{.rank = 3, .address = 0x1000, .extents = {10, 4, 2, 1, 1}};
  map.strides = {160, 640};
  map.interleave = MapInterleave::bytes16;
  map.box = {8, 2, 1, 1, 1};
  TensorCopy copy{.dimensions = 3, .coordinates = {4, 1, 1}};
  std::vector<Piece> pieces;
  for_each_piece(map, copy, [&](const Piece& piece) { pieces.push_back(piece); });
  EXPECT_EQ(pieces, (std::vector<Piece>{{0, 96, 0x1000 + 640 + 160 + 64, PieceKind::copy},
                                        {96, 32, 0, PieceKind::outside},
                                        {128, 96, 0x1000 + 640 + 320 + 64, PieceKind::copy},
                                        {224, 32, 0, PieceKind::outside}}));
  EXPECT_EQ(transaction_bytes(map, copy), 256u);
}

std::string refused(const TensorMap& map, const TensorCopy& copy) {
  try {
    check(map, copy);
  } catch (const Violation& violation) {
    return violation.rule();
  }
  return {};
}

// 9.7.9.25.5.1 "Restriction on Tensor Copy instructions" and 5.5.
TEST(ModelBox, ForbiddenCopiesAreNamed) {
  TensorMap map{.rank = 2, .address = 0x1000, .extents = {256, 32, 1, 1, 1}, .strides = {512}};
  map.box = {64, 1, 1, 1, 1};
  TensorCopy copy{.dimensions = 2, .shared = 128};
  EXPECT_EQ(refused(map, copy), "");
  copy.shared = 64;
  EXPECT_EQ(refused(map, copy), "tensor_copy.shared_address");
  copy.shared = 0;
  copy.dimensions = 3;
  EXPECT_EQ(refused(map, copy), "tensor_copy.dimensions");
  copy.dimensions = 2;
  copy.coordinates[1] = -1;
  EXPECT_EQ(refused(map, copy), "");
  copy.direction = CopyDirection::store;
  EXPECT_EQ(refused(map, copy), "tensor_copy.coordinate");
  copy.coordinates[1] = 0;
  copy.mode = CopyMode::gather4;
  EXPECT_EQ(refused(map, copy), "tensor_copy.mode");
  copy.mode = CopyMode::scatter4;
  EXPECT_EQ(refused(map, copy), "");
  map.box[1] = 2;
  EXPECT_EQ(refused(map, copy), "tensor_copy.box");
  copy = {.mode = CopyMode::im2col, .dimensions = 2};
  EXPECT_EQ(refused(map, copy), "tensor_copy.mode");
  map.type = MapElement::u6x16_padded;
  map.box[0] = 128;
  copy = {.dimensions = 2, .coordinates = {64, 0}};
  EXPECT_EQ(refused(map, copy), "tensor_copy.coordinate");
  copy.coordinates[0] = 0;
  map.swizzle = MapSwizzle::bytes128_atoms64;
  EXPECT_EQ(refused(map, copy), "tensor_copy.swizzle");
  copy.direction = CopyDirection::store;
  EXPECT_EQ(refused(map, copy), "");
  map.type = MapElement::u4x16_padded;
  map.swizzle = MapSwizzle::none;
  EXPECT_EQ(refused(map, copy), "tensor_copy.type");
}

// 5.5.1.1.1: .b6p2x16 is stored 12 bytes for 16.
TEST(ModelBox, StoresOfSixBitsArePacked) {
  TensorMap map{.type = MapElement::u6x16_padded, .address = 0x1000, .extents = {256, 1, 1, 1, 1}};
  map.box[0] = 128;
  TensorCopy copy{.direction = CopyDirection::store, .coordinates = {128}};
  std::vector<Piece> pieces;
  for_each_piece(map, copy, [&](const Piece& piece) { pieces.push_back(piece); });
  ASSERT_EQ(pieces.size(), 8u);
  EXPECT_EQ(pieces[1], (Piece{16, 16, 0x1000 + 96 + 12, PieceKind::pack6}));
}

TEST(ModelBox, FillsWithZeroOrTheSpecialNan) {
  TensorMap map;
  EXPECT_EQ(fill_bits(map), 0u);
  map.fill_nan = true;
  EXPECT_EQ(fill_bits(map), 0x7ff7u);
  map.type = MapElement::f64;
  EXPECT_EQ(fill_bits(map), 0x7ff77ff77ff77ff7u);
}

}  // namespace
}  // namespace assay::model

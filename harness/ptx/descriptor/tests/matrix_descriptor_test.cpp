// SPDX-License-Identifier: Apache-2.0
#include "harness/ptx/descriptor/matrix_descriptor.hpp"

#include <gtest/gtest.h>

namespace assay::ptx {
namespace {

std::uint64_t bits(std::uint64_t descriptor, int first, int last) {
  return descriptor >> first & ((std::uint64_t{1} << (last - first + 1)) - 1);
}

TEST(MatrixDescriptor, PutsEachFieldWhereThePtxManualSays) {
  const std::uint64_t d = encode({.start_address = 0x12340,
                                  .leading_byte_offset = 0x560,
                                  .stride_byte_offset = 0x780,
                                  .swizzle = Swizzle::none});
  EXPECT_EQ(bits(d, 0, 13), 0x1234u);
  EXPECT_EQ(bits(d, 14, 15), 0u);
  EXPECT_EQ(bits(d, 16, 29), 0x56u);
  EXPECT_EQ(bits(d, 30, 31), 0u);
  EXPECT_EQ(bits(d, 32, 45), 0x78u);
  EXPECT_EQ(bits(d, 46, 61), 0u);  // base offset 0 in bits 49-51
  EXPECT_EQ(bits(d, 62, 63), 0u);
}

TEST(MatrixDescriptor, NamesTheSwizzlesInTheirOwnOrder) {
  const auto mode = [](Swizzle swizzle) { return bits(encode({0, 0, 0, swizzle}), 62, 63); };
  EXPECT_EQ(mode(Swizzle::none), 0u);
  EXPECT_EQ(mode(Swizzle::bytes128), 1u);
  EXPECT_EQ(mode(Swizzle::bytes64), 2u);
  EXPECT_EQ(mode(Swizzle::bytes32), 3u);
}

TEST(MatrixDescriptor, SaysWhereThePatternOfASwizzleStarts) {
  EXPECT_EQ(base_offset(0x8000), 0u);
  EXPECT_EQ(base_offset(0x8000 + 3 * 128), 3u);
  EXPECT_EQ(base_offset(0x8000 + 1024), 0u);
  const std::uint64_t d = encode({0, 0, 0, Swizzle::none, 5});
  EXPECT_EQ(bits(d, 49, 51), 5u);
  EXPECT_EQ(d, std::uint64_t{5} << 49);
}

TEST(MatrixDescriptor, HoldsEverySharedMemoryAddress) {
  constexpr std::uint32_t kLast = 227 * 1024 - 16;
  EXPECT_EQ(bits(encode({kLast, 0, 0, Swizzle::none}), 0, 13), kLast / 16);
  EXPECT_EQ(bits(encode({kLast, 0, 0, Swizzle::none}), 14, 63), 0u);
}

TEST(MatrixDescriptor, KMajorRowsOf128BytesAre1024ApartPerEight) {
  const std::uint64_t d = encode_k_major_128b(0x8000);
  EXPECT_EQ(bits(d, 0, 13), 0x800u);
  EXPECT_EQ(bits(d, 16, 29), 1u);
  EXPECT_EQ(bits(d, 32, 45), 1024u / 16);
  EXPECT_EQ(bits(d, 62, 63), 1u);
}

TEST(MatrixDescriptor, AdvancingIsEncodingALaterAddress) {
  EXPECT_EQ(advance(encode_k_major_128b(0x8000), 32), encode_k_major_128b(0x8020));
  EXPECT_EQ(advance(encode_k_major_128b(0), 3 * 49152), encode_k_major_128b(3 * 49152));
}

}  // namespace
}  // namespace assay::ptx

// SPDX-License-Identifier: Apache-2.0
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"

#include <gtest/gtest.h>

namespace assay::ptx::tcgen05 {
namespace {

std::uint64_t bits(std::uint64_t descriptor, int first, int last) {
  return descriptor >> first & ((std::uint64_t{1} << (last - first + 1)) - 1);
}

constexpr Instruction kBf16{
    .kind = Kind::f16, .a = Element::bf16, .b = Element::bf16, .m = 128, .n = 256};
constexpr Instruction kNvf4{
    .kind = Kind::mxf4nvf4, .a = Element::e2m1, .b = Element::e2m1, .m = 128, .n = 256};

TEST(Tcgen05MatrixDescriptor, PutsEachFieldWhereThePtxManualSays) {
  const std::uint64_t d = matrix_descriptor(MatrixDescriptor{.start_address = 0x12340,
                                                             .leading_byte_offset = 0x560,
                                                             .stride_byte_offset = 0x780,
                                                             .swizzle = Swizzle::none});
  EXPECT_EQ(bits(d, 0, 13), 0x1234u);
  EXPECT_EQ(bits(d, 14, 15), 0u);
  EXPECT_EQ(bits(d, 16, 29), 0x56u);
  EXPECT_EQ(bits(d, 30, 31), 0u);
  EXPECT_EQ(bits(d, 32, 45), 0x78u);
  EXPECT_EQ(bits(d, 46, 48), 1u);
  EXPECT_EQ(bits(d, 49, 63), 0u);
}

TEST(Tcgen05MatrixDescriptor, HasASwizzleFieldOfThreeBits) {
  const auto mode = [](Swizzle swizzle) {
    return bits(matrix_descriptor(MatrixDescriptor{0, 0, 0, swizzle}), 61, 63);
  };
  EXPECT_EQ(mode(Swizzle::none), 0u);
  EXPECT_EQ(mode(Swizzle::bytes128_atoms32), 1u);
  EXPECT_EQ(mode(Swizzle::bytes128), 2u);
  EXPECT_EQ(mode(Swizzle::bytes64), 4u);
  EXPECT_EQ(mode(Swizzle::bytes32), 6u);
}

TEST(Tcgen05MatrixDescriptor, OptionsHaveBitsOfTheirOwn) {
  constexpr MatrixDescriptor kPlain{0, 0, 0, Swizzle::bytes128};
  MatrixDescriptor shifted = kPlain;
  shifted.base_offset = base_offset(0x8380);
  EXPECT_EQ(matrix_descriptor(shifted) ^ matrix_descriptor(kPlain), std::uint64_t{7} << 49);
  EXPECT_EQ(matrix_descriptor(kPlain, {.leading_is_address = true}) ^ matrix_descriptor(kPlain),
            std::uint64_t{1} << 52);
  EXPECT_EQ(bits(matrix_descriptor(kPlain), 53, 60), 0u);
}

TEST(Tcgen05MatrixDescriptor, KMajorRowsOf128Bytes) {
  EXPECT_EQ(k_major_128b(0x8000), 0x4000'4040'0001'0800u);
  EXPECT_EQ(advance(k_major_128b(0x8000), 32), k_major_128b(0x8020));
}

TEST(Tcgen05InstructionDescriptor, Bf16WithF32Accumulators) {
  constexpr std::uint32_t d = instruction_descriptor(kBf16);
  EXPECT_EQ(bits(d, 0, 3), 0u);
  EXPECT_EQ(bits(d, 4, 5), 1u);  // f32
  EXPECT_EQ(bits(d, 6, 6), 0u);
  EXPECT_EQ(bits(d, 7, 9), 1u);    // bf16
  EXPECT_EQ(bits(d, 10, 12), 1u);  // bf16
  EXPECT_EQ(bits(d, 13, 16), 0u);
  EXPECT_EQ(bits(d, 17, 22), 256u / 8);
  EXPECT_EQ(bits(d, 23, 23), 0u);
  EXPECT_EQ(bits(d, 24, 28), 128u / 16);
  EXPECT_EQ(bits(d, 29, 31), 0u);
}

TEST(Tcgen05InstructionDescriptor, FlagsAreOneBitEach) {
  const auto changed = [](void (*change)(Instruction&)) {
    Instruction i{.kind = Kind::i8, .a = Element::u8, .b = Element::u8, .m = 64, .n = 8};
    const std::uint32_t before = instruction_descriptor(i);
    change(i);
    return instruction_descriptor(i) ^ before;
  };
  EXPECT_EQ(changed([](Instruction& i) { i.sparse = true; }), 1u << 2);
  EXPECT_EQ(changed([](Instruction& i) { i.saturate = true; }), 1u << 3);
  EXPECT_EQ(changed([](Instruction& i) { i.d = Accumulator::s32; }), 3u << 4);  // 1 to 2
  EXPECT_EQ(changed([](Instruction& i) { i.a = Element::s8; }), 1u << 7);
  EXPECT_EQ(changed([](Instruction& i) { i.b = Element::s8; }), 1u << 10);
  EXPECT_EQ(changed([](Instruction& i) { i.negate_a = true; }), 1u << 13);
  EXPECT_EQ(changed([](Instruction& i) { i.negate_b = true; }), 1u << 14);
  EXPECT_EQ(changed([](Instruction& i) { i.a_mn_major = true; }), 1u << 15);
  EXPECT_EQ(changed([](Instruction& i) { i.b_mn_major = true; }), 1u << 16);
  EXPECT_EQ(changed([](Instruction& i) { i.sparsity_selector = 3; }), 3u);
  EXPECT_EQ(changed([](Instruction& i) { i.largest_shift = 8; }), 1u << 30);
  EXPECT_EQ(changed([](Instruction& i) { i.largest_shift = 16; }), 2u << 30);
  EXPECT_EQ(changed([](Instruction& i) { i.largest_shift = 32; }), 3u << 30);
  EXPECT_EQ(changed([](Instruction& i) { i.n = 16; }), 3u << 17);    // 1 to 2
  EXPECT_EQ(changed([](Instruction& i) { i.m = 128; }), 12u << 24);  // 4 to 8
}

TEST(Tcgen05InstructionDescriptor, ElementsHaveTheNumberOfTheirKind) {
  EXPECT_EQ(element_code(Kind::f16, Element::f16), 0u);
  EXPECT_EQ(element_code(Kind::f16, Element::bf16), 1u);
  EXPECT_EQ(element_code(Kind::i8, Element::u8), 0u);
  EXPECT_EQ(element_code(Kind::i8, Element::s8), 1u);
  EXPECT_EQ(element_code(Kind::tf32, Element::tf32), 2u);
  EXPECT_EQ(element_code(Kind::f8f6f4, Element::e4m3), 0u);
  EXPECT_EQ(element_code(Kind::f8f6f4, Element::e5m2), 1u);
  EXPECT_EQ(element_code(Kind::mxf8f6f4, Element::e2m3), 3u);
  EXPECT_EQ(element_code(Kind::mxf8f6f4, Element::e3m2), 4u);
  EXPECT_EQ(element_code(Kind::f8f6f4, Element::e2m1), 5u);
  EXPECT_EQ(element_code(Kind::mxf4, Element::e2m1), 1u);
  EXPECT_EQ(element_code(Kind::mxf4nvf4, Element::e2m1), 1u);
  EXPECT_THROW(element_code(Kind::mxf4, Element::e4m3), std::invalid_argument);
  EXPECT_THROW(element_code(Kind::f16, Element::tf32), std::invalid_argument);
}

TEST(Tcgen05InstructionDescriptor, Tf32AndIntegersAndF16Sums) {
  constexpr std::uint32_t tf32 = instruction_descriptor(
      {.kind = Kind::tf32, .a = Element::tf32, .b = Element::tf32, .m = 64, .n = 8});
  EXPECT_EQ(tf32, 1u << 4 | 2u << 7 | 2u << 10 | 1u << 17 | 4u << 24);
  constexpr std::uint32_t s8 = instruction_descriptor({.kind = Kind::i8,
                                                       .a = Element::s8,
                                                       .b = Element::u8,
                                                       .m = 128,
                                                       .n = 64,
                                                       .d = Accumulator::s32});
  EXPECT_EQ(s8, 2u << 4 | 1u << 7 | 0u << 10 | 8u << 17 | 8u << 24);
  constexpr std::uint32_t half = instruction_descriptor({.kind = Kind::f8f6f4,
                                                         .a = Element::e2m3,
                                                         .b = Element::e2m1,
                                                         .m = 256,
                                                         .n = 256,
                                                         .sparse = true,
                                                         .d = Accumulator::f16});
  EXPECT_EQ(half, 1u << 2 | 0u << 4 | 3u << 7 | 5u << 10 | 32u << 17 | 16u << 24);
}

TEST(Tcgen05InstructionDescriptor, BlockScaledBytes) {
  constexpr std::uint32_t d = instruction_descriptor({.kind = Kind::mxf8f6f4,
                                                      .a = Element::e5m2,
                                                      .b = Element::e3m2,
                                                      .m = 256,
                                                      .n = 64,
                                                      .b_mn_major = true,
                                                      .sparse = true},
                                                     {.type = Scale::ue8m0, .b_byte = 2});
  EXPECT_EQ(d, 1u << 2 | 2u << 4 | 1u << 7 | 4u << 10 | 1u << 16 | 8u << 17 | 1u << 23 | 2u << 27);
}

TEST(Tcgen05InstructionDescriptor, BlockScaledFp4) {
  constexpr std::uint32_t d = instruction_descriptor(kNvf4, {.type = Scale::ue4m3});
  EXPECT_EQ(bits(d, 0, 6), 0u);
  EXPECT_EQ(bits(d, 7, 9), 1u);
  EXPECT_EQ(bits(d, 10, 11), 1u);
  EXPECT_EQ(bits(d, 12, 16), 0u);
  EXPECT_EQ(bits(d, 17, 22), 256u / 8);
  EXPECT_EQ(bits(d, 23, 23), 0u);
  EXPECT_EQ(bits(d, 24, 26), 0u);
  EXPECT_EQ(bits(d, 27, 28), 1u);
  EXPECT_EQ(bits(d, 29, 31), 0u);
}

TEST(Tcgen05InstructionDescriptor, ScalesHaveFieldsOfTheirOwn) {
  constexpr std::uint32_t plain = instruction_descriptor(kNvf4, {.type = Scale::ue4m3});
  EXPECT_EQ(instruction_descriptor(kNvf4, {.type = Scale::ue8m0}) ^ plain, 1u << 23);
  EXPECT_EQ(instruction_descriptor(kNvf4, {.type = Scale::ue4m3, .a_byte = 3}) ^ plain, 3u << 29);
  EXPECT_EQ(instruction_descriptor(kNvf4, {.type = Scale::ue4m3, .b_byte = 3}) ^ plain, 3u << 4);
}

TEST(Tcgen05InstructionDescriptor, DenseFp4MayHaveAKOf96) {
  constexpr std::uint32_t plain = instruction_descriptor(kNvf4, {.type = Scale::ue4m3});
  EXPECT_EQ(instruction_descriptor(kNvf4, {.type = Scale::ue4m3, .k96 = true}) ^ plain, 1u << 31);
  Instruction sparse = kNvf4;
  sparse.sparse = true;
  EXPECT_THROW(instruction_descriptor(sparse, {.type = Scale::ue4m3, .k96 = true}),
               std::invalid_argument);
}

TEST(Tcgen05InstructionDescriptor, RefusesShapesThatNoKindHas) {
  for (const int n : {0, 4, 20, 264}) {
    Instruction i = kBf16;
    i.n = n;
    EXPECT_THROW(instruction_descriptor(i), std::invalid_argument) << n;
  }
  Instruction i = kBf16;
  i.m = 96;
  EXPECT_THROW(instruction_descriptor(i), std::invalid_argument);
}

TEST(Tcgen05InstructionDescriptor, RefusesScalesWhereThereAreNone) {
  EXPECT_THROW(instruction_descriptor(kBf16, {.type = Scale::ue8m0}), std::invalid_argument);
  Instruction transposed = kNvf4;
  transposed.b_mn_major = true;
  EXPECT_THROW(instruction_descriptor(transposed, {.type = Scale::ue4m3}), std::invalid_argument);
}

}  // namespace
}  // namespace assay::ptx::tcgen05

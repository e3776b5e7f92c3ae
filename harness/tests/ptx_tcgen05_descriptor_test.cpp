// SPDX-License-Identifier: Apache-2.0
#include "harness/ptx/tcgen05_descriptor.hpp"

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
  EXPECT_EQ(mode(Swizzle::bytes128), 2u);
  EXPECT_EQ(mode(Swizzle::bytes64), 4u);
  EXPECT_EQ(mode(Swizzle::bytes32), 6u);
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
  EXPECT_EQ(changed([](Instruction& i) { i.n = 16; }), 3u << 17);    // 1 to 2
  EXPECT_EQ(changed([](Instruction& i) { i.m = 128; }), 12u << 24);  // 4 to 8
}

TEST(Tcgen05InstructionDescriptor, ElementsHaveTheNumberOfTheirKind) {
  EXPECT_EQ(element_code(Kind::f16, Element::f16), 0u);
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

TEST(Tcgen05InstructionDescriptor, RefusesScalesWhereThereAreNone) {
  EXPECT_THROW(instruction_descriptor(kBf16, {.type = Scale::ue8m0}), std::invalid_argument);
  Instruction transposed = kNvf4;
  transposed.b_mn_major = true;
  EXPECT_THROW(instruction_descriptor(transposed, {.type = Scale::ue4m3}), std::invalid_argument);
}

}  // namespace
}  // namespace assay::ptx::tcgen05

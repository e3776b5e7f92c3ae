// SPDX-License-Identifier: Apache-2.0
// The two descriptors of tcgen05.mma (sm_100a, sm_103a): what lies where in shared memory, and what
// is to be multiplied. PTX ISA 9.0, "Tensorcore 5th Generation Matrix Multiply-Accumulate
// Operations: Shared memory descriptor, Instruction descriptor"; the fields agree with those of
// CUTLASS's cute/arch/mma_sm100_desc.hpp.
#pragma once
#include <cstdint>
#include <stdexcept>

#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "harness/ptx/descriptor/swizzle.hpp"

namespace assay::ptx::tcgen05 {

// "Shared memory descriptor layout": as wgmma's, but for the version and a swizzle of three bits.
//
//   bits  0-13  start address >> 4
//   bits 16-29  leading-dimension byte offset >> 4
//   bits 32-45  stride-dimension byte offset >> 4
//   bits 46-48  1
//   bits 49-51  base offset
//   bit  52     leading-dimension mode: 0, the offset is relative; 1, it is an address (sm_103a)
//   bits 61-63  swizzle: 0 none, 1 128-byte with 32-byte atoms, 2 128-byte, 4 64-byte, 6 32-byte
//
// Strides and stepping along K mean what they mean in matrix_descriptor.hpp; advance() is the same.
struct MatrixOptions {
  bool leading_is_address = false;
};
__host__ __device__ constexpr std::uint64_t matrix_descriptor(const MatrixDescriptor& d,
                                                              const MatrixOptions& o = {}) {
  const std::uint64_t mode = d.swizzle == Swizzle::bytes128_atoms32 ? 1
                             : d.swizzle == Swizzle::bytes128       ? 2
                             : d.swizzle == Swizzle::bytes64        ? 4
                             : d.swizzle == Swizzle::bytes32        ? 6
                                                                    : 0;
  return encode_16_byte_units(d.start_address) | encode_16_byte_units(d.leading_byte_offset) << 16 |
         encode_16_byte_units(d.stride_byte_offset) << 32 | std::uint64_t{1} << 46 |
         std::uint64_t{d.base_offset & 7} << 49 | std::uint64_t{o.leading_is_address} << 52 |
         mode << 61;
}

// A K-major operand in rows of 128 bytes that follow each other under the 128-byte swizzle.
__host__ __device__ constexpr std::uint64_t k_major_128b(std::uint32_t start_address) {
  return matrix_descriptor({start_address, 16, 8 * 128, Swizzle::bytes128});
}

enum class Kind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
enum class Element : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, u8, s8 };
enum class Accumulator : std::uint8_t { f16 = 0, f32 = 1, s32 = 2 };
enum class Scale : std::uint8_t { ue4m3 = 0, ue8m0 = 1 };

// The number of an element type among those of its kind; other kinds give the same type another
// number. Throws std::invalid_argument (at compile time: does not compile) if the kind lacks it.
constexpr std::uint32_t element_code(Kind kind, Element element) {
  const bool packed = kind == Kind::mxf4 || kind == Kind::mxf4nvf4;
  const bool small = kind == Kind::f8f6f4 || kind == Kind::mxf8f6f4;
  switch (element) {
    case Element::f16:
      if (kind == Kind::f16) return 0;
      break;
    case Element::bf16:
      if (kind == Kind::f16) return 1;
      break;
    case Element::tf32:
      if (kind == Kind::tf32) return 2;
      break;
    case Element::e4m3:
      if (small) return 0;
      break;
    case Element::e5m2:
      if (small) return 1;
      break;
    case Element::e2m3:
      if (small) return 3;
      break;
    case Element::e3m2:
      if (small) return 4;
      break;
    case Element::e2m1:
      if (small) return 5;
      if (packed) return 1;
      break;
    case Element::u8:
      if (kind == Kind::i8) return 0;
      break;
    case Element::s8:
      if (kind == Kind::i8) return 1;
      break;
  }
  throw std::invalid_argument("this kind of tcgen05.mma has no such element type");
}

// What both formats share. M is 64 or 128, of two CTAs 128 or 256, with .ws also 32, with block
// scales never 64; N a multiple of 8 up to 256. mn_major: the operand's M or N dimension is
// contiguous ("transposed"), not its K.
struct Instruction {
  Kind kind;
  Element a, b;
  int m, n;
  bool a_mn_major = false, b_mn_major = false;
  bool negate_a = false, negate_b = false;
  bool sparse = false;
  int sparsity_selector = 0;
  Accumulator d = Accumulator::f32;  // without block scales only: they imply f32
  bool saturate = false;             // kind::i8 only
  int largest_shift = 0;             // of B's columns in a .ws MMA that uses B again: 8, 16 or 32
};

// "Instruction descriptor format for .kind::tf32, .kind::f16, .kind::f8f6f4 and .kind::i8":
//
//   bits  0-1   sparsity selector             bit  13     negate A
//   bit   2     sparse                        bit  14     negate B
//   bit   3     saturate                      bit  15     transpose A
//   bits  4-5   type of D                     bit  16     transpose B
//   bits  7-9   type of A                     bits 17-22  N >> 3
//   bits 10-12  type of B                     bits 24-28  M >> 4
//   bits 30-31  largest shift of .ws: 0 none, 1 8, 2 16, 3 32
constexpr std::uint32_t instruction_descriptor(const Instruction& i) {
  if (i.n < 8 || i.n > 256 || i.n % 8 != 0)
    throw std::invalid_argument("N is a multiple of 8 up to 256");
  if (i.m != 32 && i.m != 64 && i.m != 128 && i.m != 256)
    throw std::invalid_argument("M is 32, 64, 128 or 256");
  const std::uint32_t shift = i.largest_shift == 0    ? 0
                              : i.largest_shift == 8  ? 1
                              : i.largest_shift == 16 ? 2
                                                      : 3;
  const auto bit = [](bool set, int at) { return std::uint32_t{set} << at; };
  return static_cast<std::uint32_t>(i.sparsity_selector) | bit(i.sparse, 2) | bit(i.saturate, 3) |
         static_cast<std::uint32_t>(i.d) << 4 | element_code(i.kind, i.a) << 7 |
         element_code(i.kind, i.b) << 10 | bit(i.negate_a, 13) | bit(i.negate_b, 14) |
         bit(i.a_mn_major, 15) | bit(i.b_mn_major, 16) |
         static_cast<std::uint32_t>(i.n >> 3) << 17 | static_cast<std::uint32_t>(i.m >> 4) << 24 |
         shift << 30;
}

// Which scales multiply: their type, and which byte of a 32-bit word of tensor memory holds the
// first one that this MMA uses (scale_vec::1X 0-3, 2X 0 or 2, 4X 0).
struct BlockScales {
  Scale type;
  int a_byte = 0, b_byte = 0;
  bool k96 = false;  // K is 96: mxf4nvf4 on sm_103a, dense
};

// "Instruction descriptor format for .kind::mxf8f6f4" and "... for .kind::mxf4 and
// .kind::mxf4nvf4": as above, but
//
//   bit   3     0                             bit  23     type of the scales
//   bits  4-5   scale byte of B               bits 27-28  M >> 7
//   bits 10-11  type of B of the fp4 kinds    bits 29-30  scale byte of A
//   bits 15-16  0 for the fp4 kinds           bit  31     K: 0 the kind's own, 1 96
constexpr std::uint32_t instruction_descriptor(const Instruction& i, const BlockScales& scales) {
  const bool packed = i.kind == Kind::mxf4 || i.kind == Kind::mxf4nvf4;
  if (!packed && i.kind != Kind::mxf8f6f4)
    throw std::invalid_argument("this kind of tcgen05.mma has no block scales");
  if (packed && (i.a_mn_major || i.b_mn_major))
    throw std::invalid_argument("packed fp4 operands are K-major");
  if (i.m % 128 != 0) throw std::invalid_argument("M is 128 or 256 with block scales");
  if (scales.k96 && (!packed || i.sparse)) throw std::invalid_argument("only dense fp4 has K = 96");
  Instruction plain = i;
  plain.saturate = false;
  plain.d = Accumulator::f16;  // whose bits are 0
  return instruction_descriptor(plain) | static_cast<std::uint32_t>(scales.b_byte) << 4 |
         static_cast<std::uint32_t>(scales.type) << 23 |
         static_cast<std::uint32_t>(scales.a_byte) << 29 | std::uint32_t{scales.k96} << 31;
}

}  // namespace assay::ptx::tcgen05

// SPDX-License-Identifier: Apache-2.0
// tcgen05.cp and tcgen05.shift: where rows of shared memory go, and where lanes come from. PTX ISA
// 9.0, 9.7.16.9 "Tensor Memory Data Movement Instructions"; the lanes agree with CUTLASS's
// cute/atom/copy_traits_sm100.hpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/ptx/descriptor/matrix_descriptor.hpp"

namespace assay::model {

enum class TensorCopyShape : std::uint8_t {
  s128x256b,
  s4x256b,
  s128x128b,
  s64x128b_02_13,  // .warpx2::02_13
  s64x128b_01_23,  // .warpx2::01_23
  s32x128b_warpx4
};
struct TensorCopyExtent {
  int rows, columns;  // of the source, in lanes and in columns of 32 bits
  int copies;         // lanes that get each row
};
constexpr TensorCopyExtent extent_of(TensorCopyShape shape) {
  switch (shape) {
    case TensorCopyShape::s128x256b:
      return {128, 8, 1};
    case TensorCopyShape::s4x256b:
      return {4, 8, 1};
    case TensorCopyShape::s128x128b:
      return {128, 4, 1};
    case TensorCopyShape::s64x128b_02_13:
    case TensorCopyShape::s64x128b_01_23:
      return {64, 4, 2};
    case TensorCopyShape::s32x128b_warpx4:
      break;
  }
  return {32, 4, 4};
}

// How many lanes behind the address' the given copy of a source row lies. The four rows of 4x256b
// go to one lane of each warp's 32: of this the manual says nothing (unspecified), but the
// instruction is made to fill what tcgen05.shift leaves.
constexpr int lane_of_row(TensorCopyShape shape, int row, int copy) {
  switch (shape) {
    case TensorCopyShape::s4x256b:
      return row * 32;
    case TensorCopyShape::s64x128b_02_13:
      return row + copy * 64;
    case TensorCopyShape::s64x128b_01_23:
      return row % 32 + row / 32 * 64 + copy * 32;
    case TensorCopyShape::s32x128b_warpx4:
      return row + copy * 32;
    default:
      return row;
  }
}

// Where 16 bytes of the source lie in shared memory: chunk 0 or 1 of a row of a K-major matrix that
// the descriptor draws. Without a swizzle, eight rows of 16 bytes follow each other, then the
// stride offset leads to the next eight and the leading offset to the next chunk; with one, rows
// are as wide as the swizzle. 9.7.16.3, 9.7.16.10.6.
constexpr std::uint32_t copy_source(const ptx::MatrixDescriptor& d, int row, int chunk) {
  const std::uint32_t r = static_cast<std::uint32_t>(row), c = static_cast<std::uint32_t>(chunk);
  const std::uint32_t group = d.start_address + r / 8 * d.stride_byte_offset;
  if (d.swizzle == ptx::Swizzle::none) return group + r % 8 * 16 + c * d.leading_byte_offset;
  const std::uint32_t width = d.swizzle == ptx::Swizzle::bytes32   ? 32
                              : d.swizzle == ptx::Swizzle::bytes64 ? 64
                                                                   : 128;
  return ptx::swizzle_offset(d.swizzle, group + r % 8 * width + c * 16);
}

// 9.7.16.9.1 "Optional Decompression": 16 bytes of shared memory, sixteen elements of 4 or 6 bits
// and their padding, become 16 bytes. Figures 195, 197 and 198: the four bits lie in bits 2 to 5 of
// their byte, the six in bits 0 to 5; the others are 0.
enum class Decompression : std::uint8_t { b4x16_p64, b6x16_p32 };
constexpr std::array<std::uint8_t, 16> decompress(Decompression from,
                                                  std::span<const std::uint8_t, 16> bytes) {
  const std::size_t bits = from == Decompression::b4x16_p64 ? 4 : 6;
  std::array<std::uint8_t, 16> out{};
  for (std::size_t i = 0; i < 16; ++i) {
    const std::size_t at = i * bits;
    const unsigned two =
        bytes[at / 8] | (at / 8 < 15 ? static_cast<unsigned>(bytes[at / 8 + 1]) << 8 : 0);
    const unsigned value = two >> at % 8 & ((1u << bits) - 1);
    out[i] = static_cast<std::uint8_t>(bits == 4 ? value << 2 : value);
  }
  return out;
}

// 9.7.16.9.3 "tcgen05.shift" and .ashift of an MMA: eight columns of a warp's 32 lanes move by one
// lane; the last lane keeps what it has. The lane that lane `lane` gets its 32 bytes from. Whether
// "down" is towards lane 0 is unspecified: for it speaks the lane that 4x256b is there to fill.
// `upwards`: it is towards lane 31, and the first lane keeps what it has.
inline constexpr int kShiftColumns = 8;
constexpr int shift_source(int lane, bool upwards = false) {
  if (upwards) return lane % 32 == 0 ? lane : lane - 1;
  return lane % 32 == 31 ? lane : lane + 1;
}

// Throws Violation unless the address fits: in columns, and for a shift in lanes, which start at a
// multiple of 32.
void check_copy(TensorCopyShape shape, std::uint32_t address);
void check_shift(std::uint32_t address);

}  // namespace assay::model

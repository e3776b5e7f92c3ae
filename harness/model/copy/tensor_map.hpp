// SPDX-License-Identifier: Apache-2.0
// The 128 bytes of a tensor map, read and written without a driver.
//
// Their layout is not documented. It was derived from 16,818 calls of cuTensorMapEncodeTiled,
// Im2col and Im2colWide (driver 580, CUDA 13.0, on an H100): each bit of the result was matched
// with the bits of the parameters over sweeps of one parameter and over random ones. encode() gives
// the driver's bytes for all 13,124 accepted calls and refuses the others. What sm_100a adds
// (packed types, swizzle atoms), which a driver refuses on an H100, is read from the code that
// ptxas writes for tensormap.replace, which changes the same fields in place; it agrees with the
// calls wherever both tell. 64-bit words, bits, little-endian:
//
//   0   0-63  address
//   1   0     1: im2col                         4   0-31, 32-63  extents 0, 1, each less 1
//       4-6   rank - 1                          5   0-31, 32-63  extents 2, 3
//       7-10  code of the type                  6   0-31         extent 4
//       11-12 interleave                            32-46        steps less 1, 3 bits each
//       13-14 swizzle                               56-63        box 0, or channels, less 1
//       15    fill with NaN                     7   0-31         box 1 to 4 less 1, 8 bits each;
//       16    round to tf32                         0-15, 16-31  or the lower and the upper corner:
//       17-18 L2 promotion                                       1 x 16, 2 x 8 or 3 x 5 bits
//       19-21 swizzle atom (sm_100a)                32-41        pixels less 1
//       22    swizzle of 96 bytes (sm_103a)     8   0-63         bytes of a box in shared memory
//       32-63 stride 0, in 16 bytes             9   0-63         alignment there
//   2   0-31, 32-63  strides 1, 2
//   3   0-31         stride 3; from bit 32 the upper 4 bits of strides 0, 1, 2, 3
//
// Words 8 and 9 are the driver's notes: tensormap.replace leaves them as they are, and so nothing
// here reads them. The bytes do not tell im2col::w from im2col: the instruction does.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::model {

// The numbers of CUtensorMapDataType. u4x16: 16 values of 4 bits, 8 bytes. The padded ones take 16
// bytes of shared memory for 16 values, of which the last 8 (u4) or 4 (u6) are a gap.
enum class MapElement : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  u4x16,
  u4x16_padded,
  u6x16_padded
};
// The numbers of CUtensorMapInterleave and CUtensorMapSwizzle.
enum class MapInterleave : std::uint8_t { none, bytes16, bytes32 };
enum class MapSwizzle : std::uint8_t {
  none,
  bytes32,
  bytes64,
  bytes128,
  bytes128_atoms32,
  bytes128_atoms32_flip8,
  bytes128_atoms64
};
enum class MapMode : std::uint8_t { tiled, im2col, im2col_wide };

// Bits that one element takes. The shared ones count the gaps of the padded types.
constexpr std::uint32_t global_bits(MapElement type) {
  constexpr std::uint8_t kBits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
  return kBits[static_cast<int>(type)];
}
constexpr bool is_padded(MapElement type) { return type >= MapElement::u4x16_padded; }
constexpr std::uint32_t shared_bits(MapElement type) {
  return is_padded(type) ? 8 : global_bits(type);
}
constexpr bool is_float(MapElement type) {
  return type >= MapElement::f16 && type <= MapElement::tf32_ftz;
}

// What the map says. Dimensions run innermost first. Beyond `rank` every array holds what a
// dimension of one element has, and fields that the mode does not use are as they are here.
struct TensorMap {
  MapMode mode = MapMode::tiled;
  MapElement type = MapElement::bf16;
  int rank = 1;
  std::uint64_t address = 0;
  std::array<std::uint64_t, 5> extents{1, 1, 1, 1, 1};
  std::array<std::uint64_t, 4> strides{};             // bytes, of dimensions 1, 2, ...
  std::array<std::uint32_t, 5> steps{1, 1, 1, 1, 1};  // elementStrides: every so many-th element
  MapInterleave interleave = MapInterleave::none;
  MapSwizzle swizzle = MapSwizzle::none;
  std::uint8_t l2_promotion = 0;  // the numbers of CUtensorMapL2promotion
  bool fill_nan = false;
  std::array<std::uint32_t, 5> box{1, 1, 1, 1, 1};  // tiled
  std::array<std::int32_t, 3> lower{}, upper{};     // im2col: corners of columns, rows, depths
  std::uint32_t channels = 1, pixels = 1;           // im2col

  bool operator==(const TensorMap&) const = default;
};

inline constexpr std::size_t kTensorMapBytes = 128;
using TensorMapBytes = std::array<std::byte, kTensorMapBytes>;

// What the device of the map can do: the packed types and the atoms of the 128-byte swizzle came
// with sm_100a.
enum class MapTarget : std::uint8_t { sm90, sm100 };

// Throws Violation where the driver returns CUDA_ERROR_INVALID_VALUE. The rules are those that it
// was seen to apply, which are not all that its documentation states; those of sm100 are from the
// documentation of the CUDA driver API 13.0.
void check(const TensorMap& map, MapTarget target = MapTarget::sm90);

// The bytes that the driver writes. check()s first. Words 8 and 9 are unspecified for what only
// sm_100a has: here they follow the same rule.
TensorMapBytes encode(const TensorMap& map, MapTarget target = MapTarget::sm90);

// What the bytes say; `mode` is never im2col_wide. Throws Violation if no driver writes such bytes.
TensorMap decode(std::span<const std::byte, kTensorMapBytes> bytes);

// The fields of tensormap.replace.tile and how its operands become bits of the map: the code that
// ptxas writes for it. `ordinal` names a dimension, `value` is the new value (of strides in bytes,
// of the rank less 1), or the number that PTX ISA 9.0, 9.7.9.28 "tensormap.replace", table
// ".field3", gives to a type, layout or mode. Throws Violation for values beyond the field.
enum class MapField : std::uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode,
  swizzle_atomicity
};
void replace(std::span<std::byte, kTensorMapBytes> bytes, MapField field, int ordinal,
             std::uint64_t value);

}  // namespace assay::model

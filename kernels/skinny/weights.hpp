// SPDX-License-Identifier: Apache-2.0
// How the weights of a skinny product are packed. Light on purpose: .cu files include it.
//
// clang-format off
// W is packed row by row without gaps, along k, the first element of a byte in its low bits:
//   bf16  2 bytes
//   s8    1 byte, two's complement; scales f32 [n]
//   e4m3  1 byte; scales f32 [n]. The two codes for NaN count as 480 and -480
//   s4    half a byte, two's complement, element 2i in bits 0 to 3 of byte i;
//         scales bf16 [n][k/128]
//   s2    a quarter, two's complement (-2 to 1; a ternary weight uses -1 to 1),
//         element 4i in bits 0 and 1 of byte i; scales bf16 [n][k/128]
//   mxf4  half a byte, e2m1, as s4; scales [n][k/32], ue8m0: 2^(b - 127), at most 2^125
//   nvf4  half a byte, e2m1, as s4; scales [n][k/16], e4m3 not negative, and one f32 for all
// Rows of scales begin on 16 bytes: where those of a row are no multiple (k no multiple of 1024 for
// s4 and s2, 512 for mxf4, 256 for nvf4), what fills them up is not read as scales.
// What a weight stands for is its element times its scale (times that of all).
// clang-format on
#pragma once
#include <cstdint>

namespace assay::kernels {

enum class SkinnyWeights : std::uint8_t { bf16, s8, e4m3, s4, s2, mxf4, nvf4 };

constexpr SkinnyWeights kSkinnyWeights[] = {
    SkinnyWeights::bf16, SkinnyWeights::s8,   SkinnyWeights::e4m3, SkinnyWeights::s4,
    SkinnyWeights::s2,   SkinnyWeights::mxf4, SkinnyWeights::nvf4};

constexpr int weight_bits(SkinnyWeights w) {
  switch (w) {
    case SkinnyWeights::bf16:
      return 16;
    case SkinnyWeights::s8:
    case SkinnyWeights::e4m3:
      return 8;
    case SkinnyWeights::s2:
      return 2;
    default:
      return 4;
  }
}

// Elements of a row that share a scale. 0: there are no scales, or one for a row.
constexpr int scale_block(SkinnyWeights w) {
  switch (w) {
    case SkinnyWeights::s4:
    case SkinnyWeights::s2:
      return 128;
    case SkinnyWeights::mxf4:
      return 32;
    case SkinnyWeights::nvf4:
      return 16;
    default:
      return 0;
  }
}

// Of one scale of a block or row. 0: there are none.
constexpr int scale_bytes(SkinnyWeights w) {
  switch (w) {
    case SkinnyWeights::bf16:
      return 0;
    case SkinnyWeights::s8:
    case SkinnyWeights::e4m3:
      return 4;
    case SkinnyWeights::s4:
    case SkinnyWeights::s2:
      return 2;
    default:
      return 1;
  }
}

// Bytes of a row's scales.
constexpr int scales_of_row_bytes(SkinnyWeights w, int k) {
  const int block = scale_block(w);
  return block == 0 ? scale_bytes(w) : k / block * scale_bytes(w);
}
// Bytes from a row's scales to the next row's.
constexpr int scale_row_bytes(SkinnyWeights w, int k) {
  const int bytes = scales_of_row_bytes(w, k);
  return scale_block(w) == 0 ? bytes : (bytes + 15) / 16 * 16;
}

// What k must be a multiple of: whole scales, and rows of whole 16 bytes.
constexpr int skinny_step(SkinnyWeights w) {
  const int row = 128 / weight_bits(w), block = scale_block(w);
  return row > block ? row : block;
}

}  // namespace assay::kernels

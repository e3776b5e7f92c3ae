// SPDX-License-Identifier: Apache-2.0
// How a warp turns packed weights into the bf16 pairs that mma.sync takes. Every step is exact.
//
// A word of weights holds e = 32 / bits elements, the first in the lowest bits. Masks that work on
// both halves of a word at once take element i and element i + e / 2: these are a pair, low half
// first. So pairs come in the order (0, e/2), (1, e/2 + 1), ..., and activations are put into the
// same order when they are staged (permuted_pairs); a sum over k does not depend on it.
//
// bf16 has 1 sign, 8 exponent (bias 127) and 7 mantissa bits. Two tricks make numbers of small
// fields:
//   integers: 0x4300 is 128, and the unit of its last place is 1. A field of up to 7 bits put into
//     its mantissa makes 128 + field; subtracting 128 leaves the field.
//   floats: exponent and mantissa field put where bf16 has its own, sign on top, make the number
//     times 2^(bias - 127), subnormal numbers included: they are m * 2^(1 - bias) in one and
//     m * 2^(1 - 127) in the other. A product with a power of two mends the bias; bf16 products do
//     not flush subnormal numbers (PTX ISA 9.0, "mul": bf16x2).
#pragma once
#include <cuda_bf16.h>

#include <cstdint>

#include "harness/ptx/special_function.cuh"
#include "kernels/skinny/weights.hpp"

namespace assay::kernels {

__device__ inline std::uint32_t multiply_pairs(std::uint32_t a, std::uint32_t b) {
  const __nv_bfloat162 r = __hmul2(reinterpret_cast<const __nv_bfloat162&>(a),
                                   reinterpret_cast<const __nv_bfloat162&>(b));
  return reinterpret_cast<const std::uint32_t&>(r);
}
__device__ inline std::uint32_t fma_pairs(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const __nv_bfloat162 r = __hfma2(reinterpret_cast<const __nv_bfloat162&>(a),
                                   reinterpret_cast<const __nv_bfloat162&>(b),
                                   reinterpret_cast<const __nv_bfloat162&>(c));
  return reinterpret_cast<const std::uint32_t&>(r);
}

// A bf16 in both halves.
constexpr std::uint32_t twice(std::uint32_t bits) { return bits << 16 | bits; }
constexpr std::uint32_t kOnes = twice(0x3f80);

// What all formats have. kPairs pairs are made of a word.
template <int kBits_>
struct Words {
  static constexpr int kBits = kBits_;
  static constexpr int kElements = 32 / kBits;
  static constexpr int kPairs = kElements / 2;
};

struct Bf16 : Words<16> {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::bf16;
  __device__ static void unpack(std::uint32_t word, std::uint32_t (&pairs)[kPairs]) {
    pairs[0] = word;
  }
};

// b = s * -128 + low, low of 7 bits: (128 + low) - (128 + s * 128), and 128 + 128 is 0x4380, whose
// bit 7 is where s is already.
struct S8 : Words<8> {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::s8;
  __device__ static void unpack(std::uint32_t word, std::uint32_t (&pairs)[kPairs]) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const std::uint32_t w = word >> 8 * i;
      pairs[i] = fma_pairs(ptx::and_or(w, twice(0x007f), twice(0x4300)), kOnes,
                           ptx::and_or(w, twice(0x0080), twice(0xc300)));
    }
  }
};

// s eeee mmm: bias 7, so the product with 2^120 (0x7b80). 0x7f and 0xff, NaN in e4m3, count as 480
// and -480.
struct E4m3 : Words<8> {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::e4m3;
  __device__ static void unpack(std::uint32_t word, std::uint32_t (&pairs)[kPairs]) {
    const std::uint32_t even = ptx::and_or(word << 8, twice(0x8000), (word << 4) & twice(0x07f0));
    const std::uint32_t odd = ptx::and_or(word, twice(0x8000), (word >> 4) & twice(0x07f0));
    pairs[0] = multiply_pairs(even, twice(0x7b80));
    pairs[1] = multiply_pairs(odd, twice(0x7b80));
  }
};

// Two's complement: n ^ 8 is n + 8, without a sign; 128 + 8 is 0x4308.
struct S4 : Words<4> {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::s4;
  __device__ static void unpack(std::uint32_t word, std::uint32_t (&pairs)[kPairs]) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i)
      pairs[i] = fma_pairs(ptx::and_xor(word >> 4 * i, twice(0x000f), twice(0x4308)), kOnes,
                           twice(0xc308));
  }
};

// Two's complement, -2 to 1. Three fields fit into the mantissa: field j of them counts 4^j, so
// that 128 + 4^j (n + 2) times 4^-j less (128 + 2 * 4^j) * 4^-j is n: factors 1, 1/4, 1/16 (0x3f80,
// 0x3e80, 0x3d80) and terms -130, -34, -10 (0xc302, 0xc208, 0xc120).
struct S2 : Words<2> {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::s2;
  __device__ static void unpack(std::uint32_t word, std::uint32_t (&pairs)[kPairs]) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const std::uint32_t w = word >> 6 * (i / 3);
      if (i % 3 == 0)
        pairs[i] = fma_pairs(ptx::and_xor(w, twice(0x0003), twice(0x4302)), kOnes, twice(0xc302));
      else if (i % 3 == 1)
        pairs[i] =
            fma_pairs(ptx::and_xor(w, twice(0x000c), twice(0x4308)), twice(0x3e80), twice(0xc208));
      else
        pairs[i] =
            fma_pairs(ptx::and_xor(w, twice(0x0030), twice(0x4320)), twice(0x3d80), twice(0xc120));
    }
  }
};

// s ee m: bias 1. The factor that mends the bias and applies the block's scale is `scale`.
struct E2m1 : Words<4> {
  __device__ static std::uint32_t field(std::uint32_t word, int i) {
    // Nibble i of each half: sign to bit 15, ee m to bits 8 to 6.
    const std::uint32_t sign = i == 3 ? word : word << (12 - 4 * i);
    const std::uint32_t rest = i < 2 ? word << (6 - 4 * i) : word >> (4 * i - 6);
    return ptx::and_or(sign, twice(0x8000), rest & twice(0x01c0));
  }
};

// The scale is 2^(b - 127), or 2^-127, subnormal, for b = 0. It cannot be had with 2^126 in one
// factor that does not overflow, so two products. Scales above 2^125 overflow for the greatest
// weights.
struct Mxf4 : E2m1 {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::mxf4;
  __device__ static std::uint32_t factor(std::uint32_t scale) {
    return twice(scale == 0 ? 0x0040 : scale << 7);
  }
  __device__ static void unpack(std::uint32_t word, std::uint32_t factor,
                                std::uint32_t (&pairs)[kPairs]) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i)
      pairs[i] = multiply_pairs(multiply_pairs(field(word, i), twice(0x7e80)), factor);
  }
};

// The scale is an e4m3 without a sign. A weight has 2 significant bits and a scale 4, so that their
// product is exact in bf16. One factor holds the scale and 2^118: with 2^126 it could overflow
// (448 * 2^126), and what lacks, 2^8, goes into the scale of all (kRest).
struct Nvf4 : E2m1 {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::nvf4;
  static constexpr float kRest = 256;
  __device__ static std::uint32_t factor(std::uint32_t scale) {
    const std::uint32_t bits = twice((scale & 0x7f) << 4);  // times 2^-120
    return multiply_pairs(multiply_pairs(bits, twice(0x7b80)), twice(0x7a80));
  }
  __device__ static void unpack(std::uint32_t word, std::uint32_t factor,
                                std::uint32_t (&pairs)[kPairs]) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) pairs[i] = multiply_pairs(field(word, i), factor);
  }
};

// Natural pairs (2j, 2j + 1) of the e = 2 * kPairs elements of a word, put into the order of its
// unpacked pairs.
template <int kPairs>
__device__ inline void permute_pairs(const std::uint32_t (&from)[kPairs],
                                     std::uint32_t (&to)[kPairs]) {
  if constexpr (kPairs == 1) {
    to[0] = from[0];
  } else {
#pragma unroll
    for (int j = 0; j < kPairs / 2; ++j) {
      to[2 * j] = __byte_perm(from[j], from[j + kPairs / 2], 0x5410);
      to[2 * j + 1] = __byte_perm(from[j], from[j + kPairs / 2], 0x7632);
    }
  }
}

}  // namespace assay::kernels

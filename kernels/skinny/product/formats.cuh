// SPDX-License-Identifier: Apache-2.0
// How a warp turns packed weights into the bf16 pairs that mma.sync and wgmma take. Every step is
// exact.
//
// A word of weights holds e = 32 / bits elements, the first in the lowest bits. Masks that work on
// both halves of a word at once take element i and element i + e / 2: these are a pair, low half
// first. So pairs come in the order (0, e/2), (1, e/2 + 1), ..., and activations are put into the
// same order when they are staged (permute_pairs); a sum over k does not depend on it. e2m1 comes
// in the natural order (kNatural).
//
// bf16 has 1 sign, 8 exponent (bias 127) and 7 mantissa bits. Its products do not flush subnormal
// numbers (PTX ISA 9.0, "mul", "fma": bf16x2). Three tricks make numbers of small fields:
//   integers: the low 8 bits alone are their integer times 2^-133, also where bit 7 makes the
//     number normal: (128 + m) * 2^-133 is 2^-126 * (1 + m / 128). So a field of an integer needs
//     no shift as long as it ends below bit 8. One fma takes the offset of a signed one away, and
//     brings all fields to 2^-6 (2^127 is the greatest factor that bf16 has). kRest mends that.
//   floats: exponent and mantissa field put where bf16 has its own, sign on top, make the number
//     times 2^(bias - 127), subnormal numbers included: they are m * 2^(1 - bias) in one and
//     m * 2^(1 - 127) in the other. A product with a power of two mends the bias.
//   tables: see E2m1.
#pragma once
#include <cuda_bf16.h>

#include <cstdint>

#include "harness/ptx/arithmetic.cuh"
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

// What all formats have. kPairs pairs are made of a word; they stand for weights over kRest.
template <int kBits_>
struct Words {
  static constexpr int kBits = kBits_;
  static constexpr int kElements = 32 / kBits;
  static constexpr int kPairs = kElements / 2;
  static constexpr bool kNatural = kPairs == 1;
  static constexpr float kRest = 1;

  // Called once; `zero` is 0, which the compiler does not know, nor that lanes have the same.
  __device__ void begin(std::uint32_t) {}
};

// Integers in two's complement of kBits bits. With its top bit turned a code is the integer plus
// half; field j of a byte then is that times 2^(kBits j - 133), and
//   code * 2^(127 - kBits j) - half * 2^-6 is the integer times 2^-6.
template <int kBits_>
struct Integers : Words<kBits_> {
  static constexpr int kHalf = 1 << (kBits_ - 1), kFields = 8 / kBits_;  // of a byte
  static constexpr float kRest = 64;
  static constexpr std::uint32_t kTerm = twice((0x8000 | (127 - 6 + kBits_ - 1) << 7));
  __device__ static void unpack(std::uint32_t word, std::uint32_t (&pairs)[Words<kBits_>::kPairs]) {
#pragma unroll
    for (int i = 0; i < Words<kBits_>::kPairs; ++i) {
      const int at = i % kFields * kBits_;
      const std::uint32_t code =
          ptx::and_xor(word >> i / kFields * 8, twice((2 * kHalf - 1) << at), twice(kHalf << at));
      pairs[i] = fma_pairs(code, twice((254 - at) << 7), kTerm);
    }
  }
};

struct Bf16 : Words<16> {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::bf16;
  __device__ static void unpack(std::uint32_t word, std::uint32_t (&pairs)[kPairs]) {
    pairs[0] = word;
  }
};

struct S8 : Integers<8> {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::s8;
};
struct S4 : Integers<4> {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::s4;
};
struct S2 : Integers<2> {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::s2;
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

// s ee m, bias 1: by a table, for prmt looks four codes up at once. A byte of it is 4 u, u being 12
// plus or minus twice the number, 0 to 24. Below a byte of 0x40 it makes 2 + u / 16, so that
//   (2 + u / 16) * scale - 2.75 * scale is the number times the scale over 8,
// exact: a number has 2 significant bits, a scale 4 at most, and 2.75 has 4.
//
// A code's top bit asks prmt for the sign of a table's byte, which is 0: no byte is above 127. So
// one look-up finds bytes of positive numbers and 0 for negative ones, another, of codes with that
// bit turned, the reverse.
struct E2m1 : Words<4> {
  static constexpr bool kNatural = true;
  static constexpr float kRest = 8;

  // The first halves of both tables. prmt takes one immediate, and a register for the other half;
  // where the compiler knows what is in it, or that it is the same in all lanes, it fills one anew
  // for each.
  std::uint32_t positive, negative;
  // prmt, logic and shifts share a pipe of half the rate, which then is the bound: a sum of bytes
  // of which one is 0, and a shift, are products for the pipe of multiplications instead.
  std::uint32_t one, two_to_16;

  __device__ void begin(std::uint32_t zero) {
    positive = 0x3c383430 + zero;
    negative = 0x24282c30 + zero;
    one = 1 + zero;
    two_to_16 = 0x10000 + zero;
  }
  __device__ std::uint32_t bytes(std::uint32_t codes, std::uint32_t turned) const {
    return ptx::permute_bytes(positive, 0x60504840, codes) * one +
           ptx::permute_bytes(negative, 0x00101820, turned);
  }
  // factors: the scale, and -2.75 times it.
  __device__ void unpack(std::uint32_t word, const std::uint32_t (&factors)[2],
                         std::uint32_t (&pairs)[kPairs]) const {
    const std::uint32_t turned = word ^ 0x88888888;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t four =
          half == 0 ? bytes(word, turned)
                    : bytes(__umulhi(word, two_to_16), __umulhi(turned, two_to_16));
#pragma unroll
      for (int i = 0; i < 2; ++i)
        pairs[2 * half + i] = fma_pairs(
            ptx::permute_bytes(four, 0x40404040, i == 0 ? 0x4140 : 0x4342), factors[0], factors[1]);
    }
  }
  __device__ static void with_term(std::uint32_t scale, std::uint32_t (&factors)[2]) {
    factors[0] = scale;
    factors[1] = multiply_pairs(scale, twice(0xc030));  // -2.75
  }
};

// The scale is 2^(b - 127), or 2^-127, subnormal, for b = 0. 2.75 times one above 2^126 overflows.
struct Mxf4 : E2m1 {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::mxf4;
  __device__ static void factors(std::uint32_t scale, std::uint32_t (&of)[2]) {
    with_term(twice(scale == 0 ? 0x0040 : scale << 7), of);
  }
};

// The scale is an e4m3 without a sign, 2^-120 of it where its bits lie in bf16.
struct Nvf4 : E2m1 {
  static constexpr SkinnyWeights kWeights = SkinnyWeights::nvf4;
  __device__ static void factors(std::uint32_t scale, std::uint32_t (&of)[2]) {
    with_term(multiply_pairs(twice((scale & 0x7f) << 4), twice(0x7b80)), of);
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

// SPDX-License-Identifier: Apache-2.0
// 2^x on the FMA pipe: Cody and Waite's range reduction and a polynomial, as FlashAttention-4 uses
// it for a part of softmax's elements (Zadouri et al., "FlashAttention-4").
//
//   x' = max(x, -126)                 results stay normal; what softmax masks becomes 2^-126
//   s  = x' + 1.5 * 2^23, rounded down    units of s are worth 1, so its low bits are floor(x')
//   f  = x' - (s - 1.5 * 2^23)        in [0, 1]
//   p  = 1 + f (c1 + f (c2 + ...))    close to 2^f, in [1, 2]
//   2^x = p with floor(x') added to its exponent field: bits(p) + (bits(s) << 23)
//
// Valid for x < 128; below -126 the result is 2^-126. 2^0 is exactly 1, so the largest element of a
// softmax keeps its weight.
//
// Coefficients: Remez exchange on 2^-f p(f) - 1 over [0, 1] with c0 = 1 held, so that d
// coefficients equalize d + 1 extrema; then rounded to float. Of degree 5, where rounding costs as
// much as the polynomial does, float neighbours of c1 ... c4 were tried for the least greatest
// error in ulp. Largest relative error of p against 2^f when evaluated in float, as
// tests/exp2_polynomial_test.cpp shows: degree 3 8.57e-5, degree 4 2.96e-6, degree 5 1.42e-7 (the
// ideal coefficients alone: 8.56e-5, 2.90e-6, 8.23e-8). bf16 rounds by up to 2e-3, f16 by 2.4e-4.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::exp2_polynomial {

inline constexpr int kLowestDegree = 3, kHighestDegree = 5;
inline constexpr float kMagic = 0x1.8p23f;
inline constexpr float kLowest = -126;

// c1 ... cd of a degree.
template <int kDegree>
inline constexpr std::array<float, kDegree> kCoefficients = {};
template <>
inline constexpr std::array<float, 3> kCoefficients<3> = {0x1.63e658p-1f, 0x1.d2378ap-3f,
                                                          0x1.3baaa6p-4f};
template <>
inline constexpr std::array<float, 4> kCoefficients<4> = {0x1.62d6c6p-1f, 0x1.ee2450p-3f,
                                                          0x1.abf868p-5f, 0x1.b7f730p-7f};
template <>
inline constexpr std::array<float, 5> kCoefficients<5> = {
    0x1.62e4bap-1f, 0x1.ebdb58p-3f, 0x1.c91ce6p-5f, 0x1.277868p-7f, 0x1.e974fap-10f};

// Every rounding as the GPU does it, so that host and device agree to the last bit.
template <int kDegree>
#ifdef __CUDACC__
__host__ __device__
#endif
    inline float
    evaluate(float x) {
  constexpr std::array<float, kDegree> c = kCoefficients<kDegree>;
  x = fmaxf(x, kLowest);
#ifdef __CUDA_ARCH__
  const float shifted = __fadd_rd(x, kMagic);
  const float fraction = __fsub_rn(x, __fsub_rn(shifted, kMagic));
#else
  const float shifted = std::floor(x) + kMagic;  // exact
  const float fraction = x - std::floor(x);
#endif
  float p = c[kDegree - 1];
  for (int k = kDegree - 2; k >= 0; --k) p = fmaf(p, fraction, c[k]);
  p = fmaf(p, fraction, 1.0f);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) +
                              (std::bit_cast<std::uint32_t>(shifted) << 23));
}

}  // namespace assay::exp2_polynomial

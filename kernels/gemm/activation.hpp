// SPDX-License-Identifier: Apache-2.0
// Activations of a product's results.
//
// GELU is x Phi(x), Phi the normal distribution's function, and may be wrong by 2^-20 |x|
// (kernels/gemm/bound.hpp), so Phi by 2^-20. Phi(x) is 1 / (1 + 2^-h), and h / x is even and
// smooth: a polynomial of degree 6 in x^2 whose coefficients minimize the greatest error of Phi,
// 2^-23.5. The last one is above 0, so that Phi goes to 0 and 1 far out. With f32's roundings the
// error is at most 2^-21.6 |x|: 12 instructions, two of them by the special function unit, and no
// branch. (erff() takes about twice as many. A polynomial for Phi itself is of degree 11.)
#pragma once
#include <cuda_runtime_api.h>

#include <cmath>

namespace assay::kernels {

// -h of the above.
__host__ __device__ inline float gelu_exponent(float x) {
  constexpr float kOfSquare[] = {-2.302209094768476f,     -1.0483663001564503e-1f,
                                 9.605440427727963e-5f,   1.5872764995727252e-4f,
                                 -1.1290224869315827e-5f, 3.7136474813921455e-7f,
                                 -4.856958254726625e-9f};
  const float square = x * x;
  float p = kOfSquare[6];
  for (int i = 5; i >= 0; --i) p = fmaf(p, square, kOfSquare[i]);
  return x * p;
}

// sqrt(2 / pi) (x + 0.044715 x^3).
__host__ __device__ inline float gelu_tanh_argument(float x) {
  constexpr float kOne = 0.79788456080f, kThree = 0.044715f * kOne;
  return x * fmaf(x * x, kThree, kOne);
}

}  // namespace assay::kernels

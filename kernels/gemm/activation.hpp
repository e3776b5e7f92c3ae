// SPDX-License-Identifier: Apache-2.0
// Activations of a product's results.
//
// GELU is x Phi(x), Phi the normal distribution's function, and may be wrong by 2^-20 |x|
// (kernels/gemm/bound.hpp), so Phi by 2^-20. It is odd about 1/2: Phi(x) = 1/2 + x P(x^2). P is a
// polynomial of degree 11 in t = 2 x^2 / 4.87^2 - 1, which runs from -1 to 1, so that its terms do
// not cancel; it minimizes the greatest |x| |P - (Phi - 1/2) / x| there, 0.52 * 2^-20. Beyond 4.87,
// where 1 - Phi is less than 0.6 * 2^-20, P stays as it is and the sum ends at 0 or 1. With f32's
// roundings the error is at most 0.63 * 2^-20 |x|: 16 instructions, none of them by the special
// function unit, and no branch. (erff() takes about twice as many.)
#pragma once
#include <cuda_runtime_api.h>

#include <cmath>

namespace assay::kernels {

// P of the above.
__host__ __device__ inline float gelu_polynomial(float x) {
  constexpr float kOfT[] = {0.14511299133f,    -0.072026468813f, 0.052456498146f,
                            -0.040583908558f,  0.030779531226f,  -0.022405261174f,
                            0.015693325549f,   -0.009406303987f, 0.0042446348816f,
                            -0.0027454341762f, 0.0025174536277f, -0.00096787151415f};
  constexpr float kScale = static_cast<float>(2 / (4.87 * 4.87));
  const float t = fminf(fmaf(x * kScale, x, -1.0f), 1.0f);
  float p = kOfT[11];
  for (int i = 10; i >= 0; --i) p = fmaf(p, t, kOfT[i]);
  return p;
}

}  // namespace assay::kernels

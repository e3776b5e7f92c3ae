// SPDX-License-Identifier: Apache-2.0
// What an element of a matrix product must be, and how far from it a right kernel may end.
//
// Products of two elements of 16 bits or fewer are exact in f32. Then errors are made in three
// places.
//
// The sum. An instruction adds a group of products to the accumulator at once: aligned to the
// greatest exponent among them, cut, the result cut again (harness/numerics/mma_model.hpp says who
// found that, and probes/numerics measures it). Let G bound the magnitude of every partial sum and
// of every product; then
//   16-bit operands: 16 products at a time, each of 17 addends cut by less than 2^-25 G, the result
//     by less than 2^-23 G: 21 * 2^-25 G for each of ceil(k / 16) steps, whatever the data are.
//   fp8 operands: 32 products at a time, cut by less than 2^-13 G, and so is the result. Of the
//     accumulator's cut and the result's we take the worst, 2 * 2^-13 G for each of s = ceil(k /
//     32) steps. The worst of the products' cuts would be sixteen times that and tell nothing. Cuts
//     go towards zero, so with operands of random signs, as our fills are, they are independent and
//     of mean 0, at most 2^-13 G each, a third of its square in the mean: their sum exceeds 8 *
//     sqrt(32 s / 3) * 2^-13 G < 27 sqrt(s) * 2^-13 G with a probability below 2 exp(-32)
//     (Hoeffding). Kernels that promote their sums to f32 err less; Hopper's and Ada's tensor
//     cores without promotion are the coarsest there are.
// Up to 32 parts of a sum may be added in f32, in any order, 2^-24 G each: four steps of 16 more.
// G is the range of the partial sums over k, which bounds those of any contiguous part, and the
// greatest sum of magnitudes of 32 neighbours, which bounds what a step adds.
//
// The epilogue, in f32. v = alpha * scale_a * scale_b * sum + beta * c + bias takes no more than
// eight roundings of 2^-24, each of no more than the sum of the magnitudes of its terms. GELU's
// slope is at most 1.13 and SiLU's 1.10; their own values are allowed 2^-20 of |v|.
//
// The rounding to D's type: half of an ulp, 2^-8 of the value for bf16, 2^-11 for f16 (or 2^-25
// where it is subnormal), 2^-24 for f32.
#pragma once
#include <cuda_runtime_api.h>

#include <cmath>

namespace assay::kernels {

// The sum over k of an element, taken 32 products at a time.
struct GemmSum {
  double sum = 0, lowest = 0, highest = 0, largest_group = 0;

  // The sum of the next 32 products, and of their magnitudes.
  __host__ __device__ void add(double products, double magnitudes) {
    sum += products;
    lowest = std::fmin(lowest, sum);
    highest = std::fmax(highest, sum);
    largest_group = std::fmax(largest_group, magnitudes);
  }
  __host__ __device__ double greatest() const { return highest - lowest + largest_group; }
};

// The last step of a product: what happens to the sum.
struct GemmFinish {
  double factor;     // alpha * scale_a * scale_b
  double addend;     // beta * c + bias
  double magnitude;  // |beta * c| + |bias|
  int activation;    // as Activation counts
};

// What D's type rounds by, at most: relatively, and below its normal numbers.
struct GemmRounding {
  double relative, absolute;
};

struct GemmExpected {
  double value, bound;
};

__host__ __device__ inline double gemm_sum_error(bool fp8, int k, double greatest) {
  const double steps = fp8 ? (k + 31) / 32 : (k + 15) / 16;
  const double plain = 21 * 0x1p-25 * (fp8 ? 4 : steps + 4);
  return greatest * (plain + (fp8 ? 0x1p-13 * (2 * steps + 27 * std::sqrt(steps)) : 0));
}

__host__ __device__ inline GemmExpected gemm_expected(const GemmSum& sum, bool fp8, int k,
                                                      const GemmFinish& finish,
                                                      const GemmRounding& rounding) {
  const double v = finish.factor * sum.sum + finish.addend;
  double error = std::fabs(finish.factor) * gemm_sum_error(fp8, k, sum.greatest()) +
                 0x1p-21 * (std::fabs(finish.factor * sum.sum) + finish.magnitude);
  double value = v;
  if (finish.activation == 1) value = 0.5 * v * std::erfc(-v * 0.70710678118654752440);
  if (finish.activation == 2) value = v / (1 + std::exp(-v));
  if (finish.activation == 3)
    value = 0.5 * v * (1 + std::tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v)));
  // No activation is steeper than 1.13. tanh.approx is wrong by up to 2^-10.987 of its result (PTX
  // ISA 9.0, "tanh"), of which half is |x|'s.
  if (finish.activation != 0)
    error = 1.13 * error + (finish.activation == 3 ? 0x1.1p-12 : 0x1p-20) * std::fabs(v);
  return {value, error + rounding.relative * (std::fabs(value) + error) + rounding.absolute};
}

}  // namespace assay::kernels

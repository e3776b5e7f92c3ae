// SPDX-License-Identifier: Apache-2.0
// The float64 reference of the skinny product, and how far a result may be from it.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {

// How far an output may be from `sum`, the sum over k in float64, `magnitude` being the sum of the
// products' magnitudes.
//
// Unpacked weights are exact in bf16, those of mxf4 and nvf4 with their scales, and a product of
// two bf16 is exact in f32. What remains:
//   - The tensor core adds 16 products at a time to an accumulator, aligned to the largest and
//     truncated: each step loses at most a few units of 2^-24 of the largest term, 2^-22 of the
//     magnitude. There are ceil(k / 16) steps in all, in however many accumulators.
//   - Sums of CTAs, k groups and chunks are added in f32: at most 2 * 16 * 8 additions, and a scale
//     of a group, a row or of all multiplies a sum: 2^-24 each of what is no more than the
//     magnitude. So does a power of two (kRest in formats.cuh), exactly.
//   - One rounding to bf16, half a unit of its 8 significant bits: 2^-8 of the sum.
// The dense product, which does some of them in bf16, loses no more: kernels/gemm/bound.hpp.
constexpr double skinny_bound(int k, double sum, double magnitude) {
  const int steps = (k + 15) / 16;
  return 0x1p-8 * (sum < 0 ? -sum : sum) + (0x1p-22 * steps + 0x1p-24 * 260) * magnitude;
}

// What a comparison of D with that sum found.
struct SkinnyErrors {
  std::uint64_t checked = 0;     // outputs compared
  std::uint64_t not_finite = 0;  // of all; a poisoned output that was never written
  double worst_ratio = 0;        // of an error to its bound

  bool right() const { return not_finite == 0 && worst_ratio <= 1; }
  std::string describe() const;  // one line
};

// Compares on the GPU, one warp per output: all outputs if there are no more than `limit`, else
// `limit` of them chosen by a hash of `seed`. Weights are read as weights.hpp says, one by one, not
// as the kernel unpacks them. Blocks.
SkinnyErrors check_skinny(const SkinnyProblem& problem, const SkinnyOperands& operands,
                          std::uint64_t limit, std::uint64_t seed, cudaStream_t stream);

// What the weights stand for, rounded to bf16, [n][k] at `to`.
void expand_skinny(const SkinnyProblem& problem, const SkinnyOperands& operands, void* to,
                   cudaStream_t stream);

}  // namespace assay::kernels

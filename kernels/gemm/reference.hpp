// SPDX-License-Identifier: Apache-2.0
// The float64 reference of the matrix product, and how far a result may be from it.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "kernels/gemm/gemm.hpp"

namespace assay::kernels {

// What a check of D against the product in float64 found. kernels/gemm/bound.hpp derives the bound
// of one element: worst_ratio is the largest |d - ref| over it, <= 1 if all is right.
struct GemmErrors {
  std::uint64_t checked = 0;     // outputs compared
  std::uint64_t not_finite = 0;  // of all m * n outputs; a poisoned output that was never written
  double worst_ratio = 0;
  double relative_error = 0;  // ||d - ref|| / ||ref|| over the outputs compared
  // What that may be: errors of single elements that are within their bounds, all of them large,
  // are wrong too. Twice one rounding of D's type and, for each step of the sum, one cut (and four
  // times their square root, for those that do not add up).
  double relative_limit = 0;

  bool right() const {
    return not_finite == 0 && worst_ratio <= 1 && relative_error <= relative_limit;
  }
  std::string describe() const;  // one line
};

// Compares on the GPU, one warp per output: all outputs if there are no more than `limit`, else
// `limit` of them chosen by a hash of `seed`. Blocks. Throws Error(usage) for types and layouts
// that a problem cannot have.
GemmErrors check_gemm(const GemmProblem& problem, const GemmOperands& operands, std::uint64_t limit,
                      std::uint64_t seed, cudaStream_t stream);

}  // namespace assay::kernels

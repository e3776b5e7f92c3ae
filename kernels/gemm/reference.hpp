// SPDX-License-Identifier: Apache-2.0
// The float64 reference of the matrix product, and how far a result may be from it.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace assay::kernels {

// What a check of D against sum over k of A[m, k] * B[n, k] in float64 found.
//
// Each product of two bf16 values is exact in f32. What remains is the f32 accumulation and one
// rounding to bf16:
//   |d - ref| <= 2^-8 * |ref| + 2^-22 * ceil(k / 16) * sum |a| |b|
// The first term is one bf16 rounding (half an ulp is at most 2^-8 of the value, Higham's u for 8
// significant bits being 2^-8). The second: the tensor core adds 16 products to the accumulator at
// a time, aligned to the largest and truncated, so that each step loses at most a few units of
// 2^-24 of the largest term, which sum |a| |b| bounds.
// worst_ratio is the largest |d - ref| over that bound, <= 1 if all is right.
struct GemmErrors {
  std::uint64_t checked = 0;     // outputs compared
  std::uint64_t not_finite = 0;  // of all m * n outputs; a poisoned output that was never written
  double worst_ratio = 0;
  double relative_error =
      0;  // ||d - ref|| / ||ref|| over the outputs compared; about 2^-9 expected

  bool right() const { return not_finite == 0 && worst_ratio <= 1 && relative_error <= 0x1p-8; }
  std::string describe() const;  // one line
};

// Compares on the GPU, one warp per output: all outputs if there are no more than `limit`, else
// `limit` of them chosen by a hash of `seed`. bf16 row-major matrices. Blocks.
GemmErrors check_gemm_bf16_nt(const void* d, const void* a, const void* b, int m, int n, int k,
                              std::uint64_t limit, std::uint64_t seed, cudaStream_t stream);

}  // namespace assay::kernels

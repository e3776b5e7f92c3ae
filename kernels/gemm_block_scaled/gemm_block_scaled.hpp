// SPDX-License-Identifier: Apache-2.0
// The matrix product of e4m3 operands with a scale for each 1 x 128 block of A and each 128 x 128
// block of B, as language models are trained and served with (DeepSeek-V3, arXiv 2412.19437, 3.3).
#pragma once
#include <string>

#include "kernels/frame/path.hpp"

namespace assay::kernels {

// D[m, n] = sum over blocks kb of 128 along k of
//           scale_a[kb][m] * scale_b[n / 128][kb] * (sum over the block of A[m, k] * B[n, k])
// A [m, k] and B [n, k] are e4m3, D [m, n] bf16, row-major without gaps; the block's sum is the
// tensor core's, all else f32. Scales are f32 and lie as kernels/gemm_block_scaled/block_scales.hpp
// says.
struct BlockScaledProblem {
  int m, n, k;
  std::string text() const;  // "gemm_e4m3_block128 m=64 n=64 k=128"
};

struct BlockScaledOperands {
  void* d;
  const void* a;
  const void* b;
  const float* scale_a;
  const float* scale_b;
};

// What every path may rely on: m, n, k >= 1, and rows that start on 16 bytes. Throws Error(usage)
// otherwise, and for pointers that are null or not aligned to 16 bytes.
void require_valid(const BlockScaledProblem& problem);
void require_valid(const BlockScaledProblem& problem, const BlockScaledOperands& operands);

using BlockScaledPaths = Paths<BlockScaledProblem, BlockScaledOperands>;
BlockScaledPaths& block_scaled_paths();

// By the path that suits the current device best. Throws Error(usage) for a problem that is not
// valid, Error(unfit) for one that no path can do there.
Plan plan_gemm_block_scaled(const BlockScaledProblem& problem, const BlockScaledOperands& operands);

}  // namespace assay::kernels

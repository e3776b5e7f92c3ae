// SPDX-License-Identifier: Apache-2.0
// The matrix product.
#pragma once
#include <string>

#include "kernels/frame/path.hpp"

namespace assay::kernels {

// Layout "nt": D[m, n] = A[m, k] * B[n, k]^T, all row-major without gaps. Sums are f32.
struct GemmProblem {
  int m, n, k;
  std::string type = "bf16";  // of A, B and D
  std::string layout = "nt";

  std::string text() const;  // "gemm_bf16_nt m=64 n=64 k=64"
};

struct GemmOperands {
  void* d;
  const void* a;
  const void* b;
};

// What every path may rely on: m, n, k >= 1, and rows that start on 16 bytes, as TMA needs them.
// Throws Error(usage) otherwise. Pointers are aligned to 16 bytes too.
void require_valid(const GemmProblem& problem);

using GemmPaths = Paths<GemmProblem, GemmOperands>;
GemmPaths& gemm_paths();

// By the path that suits the current device best. Throws Error(usage) for a problem that is not
// valid, Error(unfit) for one that no path can do there.
Plan plan_gemm(const GemmProblem& problem, const GemmOperands& operands);

}  // namespace assay::kernels

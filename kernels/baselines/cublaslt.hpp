// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, opened at run time: the baseline of every matrix product.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kernels/baselines/baseline.hpp"

namespace assay::kernels {

// D[m, n] = A[m, k] * B[n, k]^T, all row-major, f32 accumulation.
struct CublasLtProblem {
  int m, n, k;
  std::string ab, d;  // types: "bf16"
};

// Asks cuBLASLt's heuristics for up to 16 algorithms with 64 MiB of workspace (what NVIDIA advises
// for Hopper and newer is 32 MiB).
class CublasLtGemm : public Baseline {
 public:
  struct Operands {
    void* d;
    const void* a;
    const void* b;
  };

  // Throws Error(unfit) if there is no cuBLASLt, or if it has no algorithm for this problem.
  CublasLtGemm(const CublasLtProblem& problem, std::vector<Operands> sets);
  ~CublasLtGemm() override;

  std::string name() const override { return "cublaslt"; }
  int asked() const override;
  int candidates() const override;
  void run(int candidate, int set, cudaStream_t stream) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay::kernels

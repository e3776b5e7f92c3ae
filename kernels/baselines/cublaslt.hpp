// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, opened at run time: the baseline of every matrix product.
#pragma once
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <memory>
#include <span>

namespace assay::kernels {

// D[m, n] = A[m, k] * B[n, k]^T, all row-major, f32 accumulation. Asks cuBLASLt's heuristics for up
// to 16 algorithms with 64 MiB of workspace (what NVIDIA advises for Hopper and newer is 32 MiB).
// "First" is what a library that does not tune gets; "best" is the fastest of them when timed.
class CublasLtGemm {
 public:
  struct Operands {
    void* d;
    const void* a;
    const void* b;
  };

  static constexpr int kHeuristics = 16;
  static constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

  // `ab` and `d` as in CUDA_R_16BF. Throws Error(unfit) if there is no cuBLASLt, or if it has no
  // algorithm for this problem.
  CublasLtGemm(cudaDataType_t ab, cudaDataType_t d, int m, int n, int k);
  ~CublasLtGemm();
  CublasLtGemm(CublasLtGemm&&) noexcept;

  // Algorithms found, best guess first.
  int count() const;

  // Runs algorithm `index` on the stream.
  void run(int index, const Operands& operands, cudaStream_t stream) const;

  // Index of the fastest algorithm: all take turns on rotating operand sets, `rounds` times, and
  // the least median wins. Blocks.
  int find_best(std::span<const Operands> sets, int rounds, cudaStream_t stream) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, opened at run time: the baseline of every matrix product.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/baselines/baseline.hpp"

namespace assay::kernels {

// What the factors of an operand belong to: cuBLASLt's CUBLASLT_MATMUL_MATRIX_SCALE_*. f32 but for
// the last two, whose layout in memory harness/ptx/descriptor/scale_layout.hpp has.
enum class CublasLtScale : std::uint8_t {
  none,
  tensor,         // SCALAR_32F: the matrix
  row,            // OUTER_VEC_32F: each row of A, each column of B
  block128,       // VEC128_32F: 128 elements along k
  block128x128,   // BLK128x128_32F
  block32_ue8m0,  // VEC32_UE8M0: 32 elements along k
  block16_ue4m3,  // VEC16_UE4M3: 16 elements along k
};

// D[m, n] = gelu(alpha * A B + beta * C + bias), all row-major, f32 accumulation. Layout: "n" for A
// stored [m, k] and B stored [k, n], "t" for their transposes.
struct CublasLtProblem {
  int m, n, k;
  std::string a, b, d;  // types: bf16, f16, f32, e4m3, e5m2, e2m1; C and the bias are of D's
  std::string layout = "nt";
  float alpha = 1, beta = 0;
  bool bias = false;          // one value per column
  bool gelu = false;          // cuBLASLt's, by tanh
  bool gelu_differs = false;  // GELU by the error function is asked for, up to 5e-4 from that
  CublasLtScale scale_a = CublasLtScale::none, scale_b = CublasLtScale::none;
  // Of fp8: sums stay in the tensor core, as torch._scaled_mm's use_fast_accum has it. Else they
  // are promoted to f32 now and then.
  bool fast_accumulation = true;

  std::string text() const;
  // Why cuBLASLt is not asked for this problem; empty if it is. It may have no algorithm all the
  // same.
  std::string refusal() const;
};

// Asks cuBLASLt's heuristics for up to 32 algorithms with 64 MiB of workspace (what NVIDIA advises
// for Hopper and newer is 32 MiB).
class CublasLtGemm : public Baseline {
 public:
  struct Operands {
    void* d;
    const void* a;
    const void* b;
    const void* c = nullptr;     // where beta is not 0
    const void* bias = nullptr;  // in device memory, as are the scales
    const void* scale_a = nullptr;
    const void* scale_b = nullptr;
  };

  // Throws Error(unfit) if there is no cuBLASLt, or if it has no algorithm for this problem.
  CublasLtGemm(const CublasLtProblem& problem, std::vector<Operands> sets);
  ~CublasLtGemm() override;

  std::string name() const override { return "cublaslt"; }
  int asked() const override;
  int candidates() const override;
  void run(int candidate, int set, cudaStream_t stream) const override;
  std::string differs() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay::kernels

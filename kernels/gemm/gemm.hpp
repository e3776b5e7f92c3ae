// SPDX-License-Identifier: Apache-2.0
// The matrix product.
#pragma once
#include <string>

#include "kernels/frame/path.hpp"

namespace assay::kernels {

// gelu is by the error function. gelu_tanh is x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), up
// to 5e-4 from it, which torch and cuBLASLt have too (GELUs, Hendrycks and Gimpel,
// arXiv:1606.08415).
enum class Activation { none, gelu, silu, gelu_tanh };
// Of operands: one factor for each, or one for each row of A and each column of B.
enum class Scaling { none, tensor, row };

// D = activation(alpha * scale * A B + beta * C + bias), sums in f32, all matrices without gaps.
// Layout: first letter A, second B. A is [m, k] ("n") or stored as its transpose [k, m] ("t"); B is
// [k, n] ("n") or stored as its transpose [n, k] ("t"). C and D are [m, n], all row-major.
struct GemmProblem {
  int m, n, k;
  std::string type = "bf16";  // of A: bf16, f16, e4m3, e5m2
  std::string layout = "nt";
  std::string type_b = {};    // of B, where not A's
  std::string type_d = {};    // of C, D and the bias, where not A's
  float alpha = 1, beta = 0;  // beta 0: C is not read
  bool bias = false;          // one value per column of D
  Activation activation = Activation::none;
  Scaling scaling = Scaling::none;

  const std::string& b_type() const { return type_b.empty() ? type : type_b; }
  const std::string& d_type() const { return type_d.empty() ? type : type_d; }
  // Whether sums become D by rounding to 16 bits alone.
  bool plain() const {
    return alpha == 1 && beta == 0 && !bias && activation == Activation::none &&
           scaling == Scaling::none && d_type() != "f32";
  }
  // Whether they become D by factors and rounding to 16 bits alone.
  bool scaled() const {
    return beta == 0 && !bias && activation == Activation::none && d_type() != "f32";
  }
  std::string text() const;  // "gemm_bf16_nt m=64 n=64 k=64"
};

struct GemmOperands {
  void* d;
  const void* a;
  const void* b;
  const void* c = nullptr;
  const void* bias = nullptr;
  const float* scale_a = nullptr;  // device memory: 1 or m factors
  const float* scale_b = nullptr;  // 1 or n
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

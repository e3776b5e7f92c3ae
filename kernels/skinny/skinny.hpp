// SPDX-License-Identifier: Apache-2.0
// The product of few tokens with a layer's weights, which reading the weights bounds.
//
// D[m, n] = X[m, k] * W[n, k]^T, sums in f32, for m from 1 to 64. X and D are bf16, row-major
// without gaps; W is packed as weights.hpp says.
#pragma once
#include <cstddef>
#include <string>

#include "kernels/frame/path.hpp"
#include "kernels/skinny/weights.hpp"

namespace assay::kernels {

constexpr int kMostTokens = 64;
// Of k and n. Layouts and kernels count bytes of shared memory and rows of W in int: arrange() asks
// whether the whole rows of all tokens fit, 64 * 2 bytes * 2^22 = 2^29 or twice that, and a
// kernel's pass begins below n and ends behind it. (The longest row in shapes.cpp has 53248
// elements.)
constexpr int kMostInputs = 1 << 22, kMostOutputs = 1 << 30;

// "bf16", "s8", ...; throws Error(usage) for another name.
const char* name(SkinnyWeights weights);
SkinnyWeights skinny_weights(const std::string& name);

struct SkinnyProblem {
  int m, n, k;
  SkinnyWeights weights = SkinnyWeights::bf16;

  std::size_t weight_bytes() const;
  std::size_t scale_bytes() const;
  double bytes() const;      // moved by a call: every operand once
  std::string text() const;  // "skinny_s4 m=1 n=8192 k=8192"
};

struct SkinnyOperands {
  void* d;
  const void* x;
  const void* w;
  const void* scales = nullptr;
  const float* scale = nullptr;  // nvf4: the one for all, in device memory
};

// What every path may rely on: m from 1 to 64, n from 1 to kMostOutputs, k from 1 to kMostInputs
// and a multiple of skinny_step(). Throws Error(usage) otherwise.
void require_valid(const SkinnyProblem& problem);
// The same of pointers: those that the packing has are there, x, w and scales aligned to
// 16 bytes.
void require_valid(const SkinnyProblem& problem, const SkinnyOperands& operands);

using SkinnyPaths = Paths<SkinnyProblem, SkinnyOperands>;
SkinnyPaths& skinny_paths();

// By the path that suits the current device best. Throws Error(usage) for a problem or operands
// that are not valid, Error(unfit) for one that no path can do there.
Plan plan_skinny(const SkinnyProblem& problem, const SkinnyOperands& operands);

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// Which kernel does a skinny product on Hopper, and how.
#pragma once
#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {

// Of the skinny kernel.
struct SkinnyChoiceSm90 {
  int k_groups = 0;   // of warps; 0: chosen by arrange()
  int cluster = 0;    // CTAs that share k; 0: chosen by arrange()
  bool early = true;  // may begin before the kernel in front of it ends
};

// Whether the dense product (kernels/gemm) is the faster one, D aligned to 16 bytes.
bool hands_over_sm90(const SkinnyProblem& problem);

// By the dense kernel, where D and n allow it, and by the skinny one.
Plan plan_dense_sm90(const SkinnyProblem& problem, const SkinnyOperands& operands);
Plan plan_skinny_sm90(const SkinnyProblem& problem, const SkinnyOperands& operands,
                      const SkinnyChoiceSm90& choice);

}  // namespace assay::kernels

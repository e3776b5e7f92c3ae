// SPDX-License-Identifier: Apache-2.0
// Which kernel does a skinny product on Hopper.
#pragma once
#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {

// Whether the dense product (kernels/gemm) is the faster one, D aligned to 16 bytes.
bool hands_over_sm90(const SkinnyProblem& problem);

// By the dense kernel, where D and n allow it, and by the skinny one.
Plan plan_dense_sm90(const SkinnyProblem& problem, const SkinnyOperands& operands);
Plan plan_skinny_sm90(const SkinnyProblem& problem, const SkinnyOperands& operands);

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The kernel of product/ and its launch: the plain path for every target, and Hopper's for one
// token in some sizes (way_sm90()).
#pragma once
#include <vector>

#include "kernels/skinny/arrange.hpp"
#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {

// A launch of `kernel` laid out so. `early`: it may begin before the kernel in front of it ends,
// which takes one for Hopper.
Plan skinny_launch(const void* kernel, bool early, const SkinnyLayout& layout,
                   const SkinnyProblem& problem, const SkinnyOperands& operands);

// What the current device has for one CTA on each SM.
SkinnyRoom skinny_room();

// Without clusters and early launches: every target.
Plan plan_skinny_plain(const SkinnyProblem& problem, const SkinnyOperands& operands);

// Of such a kernel, for the tokens of the problem.
std::vector<KernelUse> skinny_kernel_use(const SkinnyProblem& problem, bool hopper);

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The ring for packed weights, as far as plan_sm90.cpp needs to know it.
#pragma once
#include <vector>

#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {

// The kernel that a call launches.
std::vector<KernelUse> ring_kernels_sm90(const SkinnyProblem& problem);

}  // namespace assay::kernels

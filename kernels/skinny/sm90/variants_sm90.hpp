// SPDX-License-Identifier: Apache-2.0
// The compiled forms for Hopper.
#pragma once
#include "kernels/skinny/weights.hpp"

namespace assay::kernels {

const void* skinny_kernel_sm90(SkinnyWeights weights, int tokens);

}  // namespace assay::kernels

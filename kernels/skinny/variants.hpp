// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the skinny product, as far as their launch needs to know them.
#pragma once
#include <string>

#include "kernels/skinny/weights.hpp"

namespace assay::kernels {

// For up to `tokens` tokens: skinny_tokens().
const void* skinny_kernel(SkinnyWeights weights, int tokens);
// As the source spells it.
std::string skinny_kernel_name(SkinnyWeights weights, int tokens, bool hopper);

}  // namespace assay::kernels

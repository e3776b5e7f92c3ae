// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the skinny product, as far as their launch needs to know them.
#pragma once
#include <string>

#include "kernels/skinny/weights.hpp"

namespace assay::kernels {

// For `token_tiles` times 8 tokens: 1, 2, 4 or 8.
const void* skinny_kernel(SkinnyWeights weights, int token_tiles);
// As the source spells it.
std::string skinny_kernel_name(SkinnyWeights weights, int token_tiles, bool hopper);

}  // namespace assay::kernels

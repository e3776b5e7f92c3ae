// SPDX-License-Identifier: Apache-2.0
// The kernel of kernels/skinny/product for one token, as Hopper launches it: early, and in
// clusters.
#pragma once
#include "kernels/skinny/weights.hpp"

namespace assay::kernels {

const void* skinny_one_token_sm90(SkinnyWeights weights);

}  // namespace assay::kernels

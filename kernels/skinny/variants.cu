// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/variants.hpp"

#include "kernels/skinny/variant_table.cuh"

namespace assay::kernels {

const void* skinny_kernel(SkinnyWeights weights, int token_tiles) {
  return skinny_variant<false>(weights, token_tiles);
}

}  // namespace assay::kernels

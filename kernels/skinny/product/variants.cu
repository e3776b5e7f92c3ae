// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/variants.hpp"

#include "kernels/skinny/product/variant_table.cuh"

namespace assay::kernels {

const void* skinny_kernel(SkinnyWeights weights, int tokens) {
  return skinny_variant<false>(weights, tokens);
}

}  // namespace assay::kernels

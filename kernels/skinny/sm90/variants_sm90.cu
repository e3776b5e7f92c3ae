// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/sm90/variants_sm90.hpp"

#include "kernels/skinny/product/variant_table.cuh"

namespace assay::kernels {

const void* skinny_kernel_sm90(SkinnyWeights weights, int tokens) {
  return skinny_variant<true>(weights, tokens);
}

}  // namespace assay::kernels

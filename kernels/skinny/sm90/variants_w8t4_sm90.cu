// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/product/variant_table.cuh"
#include "kernels/skinny/sm90/variants_sm90.hpp"

namespace assay::kernels {

const void* skinny_kernel_w8t4_sm90(SkinnyWeights weights, int tokens) {
  return of_format(weights,
                   [&]<class F>() { return skinny_variant_of_four<F, SkinnyForm::w8t4>(tokens); });
}

}  // namespace assay::kernels

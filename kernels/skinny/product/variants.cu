// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/variants.hpp"

#include "kernels/skinny/product/variant_table.cuh"

namespace assay::kernels {

const void* skinny_kernel(SkinnyWeights weights, int tokens) {
  return of_format(weights, [&]<class F>() { return skinny_variant<F>(tokens); });
}

}  // namespace assay::kernels

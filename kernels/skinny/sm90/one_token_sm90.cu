// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/sm90/one_token_sm90.hpp"

#include "kernels/skinny/product/variant_table.cuh"

namespace assay::kernels {

const void* skinny_one_token_sm90(SkinnyWeights weights) {
  return of_format(weights, [&]<class F>() {
    return reinterpret_cast<const void*>(&skinny_product<F, 1, true>);
  });
}

}  // namespace assay::kernels

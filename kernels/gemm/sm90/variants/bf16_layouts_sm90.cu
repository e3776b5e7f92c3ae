// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variants/make_variant_sm90.cuh"

namespace assay::kernels {

std::vector<GemmVariantSm90> gemm_variants_bf16_layouts_sm90() {
  return layout_forms_sm90<ptx::WgmmaTypes::bf16>("bf16");
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variants/b16_forms_sm90.cuh"

namespace assay::kernels {

std::vector<GemmVariantSm90> gemm_variants_b16_sm90() {
  std::vector<FormSm90> all;
  FormsSm90<ptx::WgmmaTypes::bf16, 0, 0> nt{all, "bf16", "bf16"};
  add_wide_sm90(nt);
  return describe_b16_forms_sm90(all);
}

}  // namespace assay::kernels

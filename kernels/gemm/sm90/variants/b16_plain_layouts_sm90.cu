// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variants/b16_forms_sm90.cuh"

namespace assay::kernels {

std::vector<GemmVariantSm90> gemm_variants_b16_plain_layouts_sm90() {
  constexpr auto kTypes = ptx::WgmmaTypes::bf16;
  std::vector<FormSm90> all;
  FormsSm90<kTypes, 0, 1, true> nn{all, "bf16", "bf16"};
  FormsSm90<kTypes, 1, 1, true> tn{all, "bf16", "bf16"};
  FormsSm90<kTypes, 1, 0, true> tt{all, "bf16", "bf16"};
  add_plain_layouts_sm90(nn, tn, tt);
  return describe_b16_forms_sm90(all);
}

}  // namespace assay::kernels

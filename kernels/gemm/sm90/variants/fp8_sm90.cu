// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variants/e4m3_forms_sm90.cuh"
#include "kernels/gemm/sm90/variants/make_variant_sm90.cuh"

namespace assay::kernels {

std::vector<GemmVariantSm90> gemm_variants_fp8_sm90() {
  std::vector<FormSm90> all;
  FormsSm90<ptx::WgmmaTypes::e4m3, 0, 0> nt{all, "e4m3", "e4m3"};
  FormsSm90<ptx::WgmmaTypes::e4m3_e5m2, 0, 0> mixed{all, "e4m3", "e5m2"};
  FormsSm90<ptx::WgmmaTypes::e5m2_e4m3, 0, 0> e5{all, "e5m2", "e4m3"};
  add_e4m3_sm90(nt);
  e5.add<128, 256, 2>();
  e5.add_pingpong<128, 128, 2>();
  e5.add_swapped<128, 32>();
  e5.add_swapped<128, 64>();
  mixed.add<128, 256, 2>();
  mixed.add_pingpong<128, 128, 2>();
  mixed.add_swapped<128, 32>();
  mixed.add_swapped<128, 64>();
  return describe_forms_sm90(all);
}

}  // namespace assay::kernels

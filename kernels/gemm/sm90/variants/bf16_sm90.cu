// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variants/make_variant_sm90.cuh"

namespace assay::kernels {

std::vector<GemmVariantSm90> gemm_variants_bf16_sm90() {
  std::vector<FormSm90> all;
  FormsSm90<ptx::WgmmaTypes::bf16, 0, 0> nt{all, "bf16", "bf16"};
  nt.add<128, 256, 2>();
  nt.add<128, 224, 2>();
  nt.add<128, 192, 2>();
  nt.add_pingpong<128, 176, 2>();
  nt.add_pingpong<128, 160, 2>();
  nt.add_pingpong<128, 144, 2>();
  nt.add_pingpong<128, 128, 2>();
  nt.add_pingpong<128, 128, 1, 2>();
  nt.add_pingpong<128, 112, 2>();
  nt.add_pingpong<64, 128, 2>();
  nt.add_pingpong<64, 80, 2>();
  nt.add_pingpong<64, 64, 2>();
  return describe_forms_sm90(all);
}

}  // namespace assay::kernels

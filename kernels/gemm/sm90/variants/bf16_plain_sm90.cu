// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variants/make_variant_sm90.cuh"

namespace assay::kernels {

std::vector<GemmVariantSm90> gemm_variants_bf16_plain_sm90() {
  std::vector<FormSm90> all;
  FormsSm90<ptx::WgmmaTypes::bf16, 0, 0, true> nt{all, "bf16", "bf16"};
  add_plain_sm90(nt);
  nt.add<256, 152, 2>();
  nt.add<256, 192, 1, 2>();
  nt.add_pingpong<128, 168, 2>();
  nt.add<128, 192, 2>();
  nt.add_pingpong<128, 144, 2>();
  nt.add_pingpong<128, 112, 2>();
  nt.add_pingpong<64, 80, 2>();
  nt.add_swapped<128, 80>();
  nt.add_swapped_pingpong<64, 32, 4>();
  nt.add_swapped_pingpong<64, 48, 2>();
  nt.add_swapped_pingpong<64, 64, 4>();
  nt.add_swapped_pingpong<64, 96, 1, 2>();
  nt.add_swapped_pingpong<64, 128, 4>();
  nt.add_swapped_pingpong<128, 96, 2, 2>();
  nt.add_swapped_pingpong<128, 112, 2>();
  nt.add_swapped_pingpong<128, 176, 2>();
  return describe_forms_sm90(all);
}

}  // namespace assay::kernels

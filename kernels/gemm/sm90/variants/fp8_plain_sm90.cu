// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/variants/e4m3_forms_sm90.cuh"
#include "kernels/gemm/sm90/variants/make_variant_sm90.cuh"

namespace assay::kernels {

std::vector<GemmVariantSm90> gemm_variants_fp8_plain_sm90() {
  std::vector<FormSm90> all;
  FormsSm90<ptx::WgmmaTypes::e4m3, 0, 0, true> nt{all, "e4m3", "e4m3"};
  add_e4m3_sm90(nt);
  nt.add_swapped_pingpong<64, 16, 1, 2>();
  nt.add_swapped_pingpong<64, 16, 2>();
  nt.add_swapped_pingpong<64, 16, 4>();
  nt.add_swapped_pingpong<64, 32, 1, 2>();
  nt.add_swapped_pingpong<64, 48, 1, 2>();
  nt.add_swapped_pingpong<64, 80, 4>();
  nt.add_swapped_pingpong<64, 88, 1, 4>();
  nt.add_swapped_pingpong<64, 136, 2, 4>();
  nt.add_swapped_pingpong<64, 152, 4>();
  nt.add_swapped_pingpong<64, 176, 4>();
  nt.add_swapped_pingpong<128, 32, 4>();
  nt.add_swapped_pingpong<128, 64, 1, 2>();
  nt.add_swapped_pingpong<128, 80, 1, 2>();
  nt.add_swapped_pingpong<128, 96, 4>();
  nt.add_swapped_pingpong<128, 104, 4>();
  nt.add_swapped_pingpong<128, 136, 1, 2>();
  nt.add_swapped_pingpong<128, 168, 2>();
  nt.add_swapped_pingpong<128, 184, 2>();
  nt.add_swapped_pingpong<128, 200, 2>();
  nt.add_swapped_pingpong<192, 80, 1, 2>();
  nt.add_swapped_pingpong<192, 104, 1, 2>();
  nt.add_pingpong<64, 32, 1, 4>();
  nt.add_pingpong<64, 136, 4>();
  nt.add_pingpong<192, 96, 1, 2>();
  nt.add_pingpong<192, 112, 1, 2>();
  nt.add_pingpong<192, 128, 1, 2>();
  nt.add<256, 112, 1, 2>();
  nt.add<128, 192, 2>();
  nt.add_pingpong<128, 144, 2>();
  nt.add_swapped_pingpong<64, 48, 2>();
  nt.add_swapped_pingpong<64, 64, 4>();
  nt.add_swapped_pingpong<64, 96, 1, 2>();
  nt.add_swapped_pingpong<64, 128, 4>();
  nt.add_swapped_pingpong<128, 112, 2>();
  nt.add_swapped_pingpong<128, 176, 2>();
  return describe_forms_sm90(all);
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/make_variant_sm90.cuh"

namespace assay::kernels {

std::vector<GemmVariantSm90> gemm_variants_f16_layouts_sm90() {
  std::vector<GemmVariantSm90> all;
  FormsSm90<ptx::WgmmaTypes::f16, 0, 1> nn{all, "f16", "f16"};
  FormsSm90<ptx::WgmmaTypes::f16, 1, 1> tn{all, "f16", "f16"};
  FormsSm90<ptx::WgmmaTypes::f16, 1, 0> tt{all, "f16", "f16"};
  nn.add<128, 256, 2>();
  nn.add_pingpong<128, 128, 2>();
  nn.add<128, 64>();
  nn.add_swapped<128, 32>();
  nn.add_swapped<128, 64>();
  nn.add_swapped_pingpong<128, 128, 2>();
  tn.add<128, 256, 2>();
  tn.add_pingpong<128, 128, 2>();
  tn.add_swapped<128, 64>();
  tt.add<128, 256, 2>();
  tt.add_pingpong<128, 128, 2>();
  tt.add_swapped<128, 64>();
  return all;
}

}  // namespace assay::kernels

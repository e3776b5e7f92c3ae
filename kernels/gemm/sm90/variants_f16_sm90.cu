// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/make_variant_sm90.cuh"

namespace assay::kernels {

std::vector<GemmVariantSm90> gemm_variants_f16_sm90() {
  std::vector<GemmVariantSm90> all;
  FormsSm90<ptx::WgmmaTypes::f16, 0, 0> nt{all, "f16", "f16"};
  nt.add<128, 256, 2>();
  nt.add_pingpong<128, 176, 2>();
  nt.add_pingpong<128, 160, 2>();
  nt.add_pingpong<128, 128, 2>();
  nt.add<128, 64>();
  nt.add_swapped<128, 32>();
  nt.add_swapped<128, 64>();
  nt.add_swapped<128, 112>();
  nt.add_swapped<128, 128>();
  nt.add_swapped<128, 160>();
  nt.add_swapped<128, 192, 2>();
  nt.add_swapped_pingpong<128, 16>();
  nt.add_swapped_pingpong<128, 128, 2>();
  return all;
}

}  // namespace assay::kernels

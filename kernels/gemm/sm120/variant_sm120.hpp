// SPDX-License-Identifier: Apache-2.0
// The compiled form of the block-scaled kernel, as far as its launch needs to know it.
#pragma once
#include <string>

namespace assay::kernels {

struct GemmVariantSm120 {
  std::string kernel_name;  // as the source spells it
  int tile, tile_k;
  int mma;  // instructions of one stage, of one warp
  int threads;
  int shared_bytes;
  const void* kernel;
};

const GemmVariantSm120& gemm_mxf8_nt_variant_sm120();

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the kernel for tcgen05, as far as their launch needs to know them.
#pragma once
#include <span>
#include <string>

namespace assay::kernels {

struct GemmVariantSm100 {
  std::string name;         // "256x256x64_p2_s4": tile, CTAs of a pair, stages
  std::string kernel_name;  // as the source spells it
  std::string symbol;       // what its mangled name contains, and no other's
  int ctas;
  int tile_m, tile_n, tile_k;
  int box_a, box_b;  // rows that a CTA loads
  int threads;
  int shared_bytes;
  const void* kernel;
};

// Of one CTA, and of a pair.
std::span<const GemmVariantSm100> gemm_bf16_nt_variants_sm100();

}  // namespace assay::kernels

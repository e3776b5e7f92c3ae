// SPDX-License-Identifier: Apache-2.0
// The compiled form of the Hopper kernel, as far as its launch needs to know it.
#pragma once
#include <string>

namespace assay::kernels {

struct GemmVariantSm90 {
  std::string name;         // "128x256x64_c2x1_s4_w1": tile, cluster, stages, stages in flight
  std::string kernel_name;  // as the source spells it
  int tile_m, tile_n, tile_k;
  int cluster_m, cluster_n;  // CTAs
  int threads;
  int shared_bytes;
  const void* kernel;

  int cluster_size() const { return cluster_m * cluster_n; }
};

const GemmVariantSm90& gemm_bf16_nt_variant_sm90();

}  // namespace assay::kernels

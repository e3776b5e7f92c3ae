// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the Hopper kernel, as far as their launch needs to know them.
#pragma once
#include <span>
#include <string>

namespace assay::kernels {

struct BlockScaledKernelSm90 {
  std::string name;    // as the source spells it
  std::string symbol;  // as PTX spells it, in part
  const void* kernel = nullptr;
};

struct BlockScaledVariantSm90 {
  std::string name;         // "128x256x128_c2x1_s4": tile, cluster, stages
  std::string kernel_name;  // as the source spells it
  std::string symbol;       // as PTX spells it, in part
  int tile_m, tile_n, tile_k;
  int width;                 // columns of one MMA
  int mmas;                  // of a consumer in the main loop's body
  int scale_rows;            // of A that a stage brings
  int scale_blocks;          // of B that a tile lies in
  int cluster_m, cluster_n;  // CTAs
  int threads;
  int shared_bytes;
  const void* kernel;
  double block_ns, tile_ns;  // of a CTA for a block along k, and for a tile beside: on an H200
  // Of tiles in parts, and what adds these; without a kernel where the form has none.
  BlockScaledKernelSm90 parts = {}, reduce = {};

  int cluster_size() const { return cluster_m * cluster_n; }
};

std::span<const BlockScaledVariantSm90> block_scaled_variants_sm90();

}  // namespace assay::kernels

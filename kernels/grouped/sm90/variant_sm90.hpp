// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the grouped Hopper kernels, as far as their launch needs to know them.
#pragma once
#include <span>
#include <string>

#include "kernels/gemm/sm90/variant_sm90.hpp"
#include "kernels/grouped/grouped.hpp"

namespace assay::kernels {

// Of bf16: forms of the dense product's pipeline. Swapped, P is a group's B and Q is A; "rows" and
// "columns" are then those of D's transpose.
std::span<const GemmVariantSm90> grouped_bf16_variants_sm90(Grouping grouping);

// Of e4m3_block128.
struct GroupedE4m3VariantSm90 {
  std::string name;         // "128x256x128_c1x2_s4": tile, cluster, stages
  std::string kernel_name;  // as the source spells it
  std::string symbol;       // as PTX spells it, in part
  int tile_m, tile_n, tile_k;
  int width;                 // columns of an MMA
  int mmas;                  // of a consumer in the main loop's body
  int cluster_m, cluster_n;  // CTAs
  int threads;
  int shared_bytes;
  const void* kernel;
  double block_ns, tile_ns;  // of a CTA for a block along k, and for a tile beside: on an H200

  int cluster_size() const { return cluster_m * cluster_n; }
};
std::span<const GroupedE4m3VariantSm90> grouped_e4m3_variants_sm90();

}  // namespace assay::kernels

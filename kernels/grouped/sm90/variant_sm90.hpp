// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the grouped Hopper kernels, as far as their launch needs to know them.
#pragma once
#include <span>
#include <string>

#include "kernels/grouped/grouped.hpp"

namespace assay::kernels {

struct GroupedVariantSm90 {
  std::string name;         // "128x256x64_c1x2_s4": tile, cluster, stages
  std::string kernel_name;  // as the source spells it
  std::string symbol;       // as PTX spells it, in part
  int tile_m, tile_n, tile_k;
  int cluster_m, cluster_n;  // CTAs
  int threads;
  int shared_bytes;
  const void* kernel;

  int cluster_size() const { return cluster_m * cluster_n; }
};

// All forms of the problem's kernel; and the one that suits it.
std::span<const GroupedVariantSm90> grouped_variants_sm90(const GroupedProblem& problem);
const GroupedVariantSm90& grouped_variant_sm90(const GroupedProblem& problem);

}  // namespace assay::kernels

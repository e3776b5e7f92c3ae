// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the grouped Hopper kernels, as far as their launch needs to know them.
#pragma once
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

const GroupedVariantSm90& grouped_variant_sm90(const GroupedProblem& problem);

}  // namespace assay::kernels

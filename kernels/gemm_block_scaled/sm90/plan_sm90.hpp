// SPDX-License-Identifier: Apache-2.0
// The block-scaled product on Hopper: how its kernel is launched.
#pragma once
#include <vector>

#include "kernels/gemm_block_scaled/gemm_block_scaled.hpp"
#include "kernels/gemm_block_scaled/sm90/dense_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/map_shapes_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"

namespace assay::kernels {

// The outputs depend on `parts` alone: each is one sum over k in a fixed order, or so many that are
// added.
struct BlockScaledOptionsSm90 {
  const BlockScaledVariantSm90* variant = nullptr;  // the form; null: the model's choice
  int band = 0;      // Raster::band; 0: as many rows as columns run at the same time
  int parts = 1;     // of a tile, with a form that splits tiles; tiles * parts clusters must fit
  int max_ctas = 0;  // of the persistent grid; 0: as many as fit
};

// In how many parts a form may have its tiles of a problem; none if they are many, or k is short.
std::vector<int> parts_of_block_scaled_sm90(const BlockScaledVariantSm90& variant,
                                            const BlockScaledProblem& problem);

// What a launch is told, whatever its grid is.
struct BlockScaledLaunchSm90 {
  BlockScaledMapShapesSm90 maps;
  ptx::TensorMapShape edge_a, edge_b;
  DenseBlockScaledSm90 product;  // as yet without its maps, places and meeting
  int k_blocks;
};
BlockScaledLaunchSm90 launch_of_block_scaled_sm90(const BlockScaledProblem& problem,
                                                  const BlockScaledOperands& operands,
                                                  const BlockScaledVariantSm90& variant, int band);
// Of a product whose tiles are in so many parts, as yet without `partials`.
BlockScaledPartsSm90 parts_of_launch_sm90(const DenseBlockScaledSm90& product, int k_blocks,
                                          int parts);

Plan plan_gemm_block_scaled_sm90(const BlockScaledProblem& problem,
                                 const BlockScaledOperands& operands,
                                 const BlockScaledOptionsSm90& options = {});

}  // namespace assay::kernels

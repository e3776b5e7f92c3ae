// SPDX-License-Identifier: Apache-2.0
// How a skinny product is laid out over the clusters of a Hopper GPU.
#pragma once
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/skinny/skinny.hpp"
#include "kernels/skinny/sm90/form_sm90.hpp"
#include "kernels/skinny/sm90/variants_sm90.hpp"

namespace assay::kernels {

struct SkinnyLayoutSm90 {
  SkinnyArgumentsSm90 arguments = {};  // but for the pointers
  int grid = 0;                        // CTAs
};

// For `clusters` clusters of `cluster` CTAs, each of which has a stage along k at least.
SkinnyLayoutSm90 arrange_sm90(const SkinnyVariantSm90& variant, int m, int n, int k, int clusters,
                              int cluster);

// What a CTA is busy with, in elements along k of a pass. (Of a product that memory bounds, the
// layout with less of it is no slower.)
double relative_time_sm90(const SkinnyVariantSm90& variant, const SkinnyLayoutSm90& layout);

// The layout with the least time on 132 SMs, so that it is known without a GPU.
SkinnyLayoutSm90 usual_layout_sm90(const SkinnyVariantSm90& variant, int m, int n, int k);

// CTAs that may share k.
inline constexpr int kSkinnyClustersSm90[] = {1, 2, 3, 4, 6, 8};

// Stages along k, of which each CTA of a cluster must have one.
int skinny_stages_sm90(const SkinnyVariantSm90& variant, int k);

// What SkinnyMapsSm90 is made of; `scales` is empty where a form has none of blocks.
struct SkinnyMapShapesSm90 {
  ptx::TensorMapShape weights, scales, tokens;
};
SkinnyMapShapesSm90 map_shapes_sm90(const SkinnyVariantSm90& variant,
                                    const SkinnyLayoutSm90& layout, const SkinnyProblem& problem,
                                    const SkinnyOperands& operands);

}  // namespace assay::kernels

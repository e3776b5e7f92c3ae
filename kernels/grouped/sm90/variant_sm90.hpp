// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the grouped Hopper kernels, as far as their launch needs to know them.
#pragma once
#include <span>

#include "kernels/gemm/sm90/variant_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"
#include "kernels/grouped/grouped.hpp"

namespace assay::kernels {

// Of bf16: forms of the dense product's pipeline. Swapped, P is a group's B and Q is A; "rows" and
// "columns" are then those of D's transpose.
std::span<const GemmVariantSm90> grouped_bf16_variants_sm90(Grouping grouping);

// Of e4m3_block128: forms of the block-scaled product's pipeline, none of which splits tiles.
std::span<const BlockScaledVariantSm90> grouped_e4m3_variants_sm90();

}  // namespace assay::kernels

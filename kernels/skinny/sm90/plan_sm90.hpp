// SPDX-License-Identifier: Apache-2.0
// Which kernel does a skinny product on Hopper, and how.
#pragma once
#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {

enum class SkinnyWaySm90 {
  dense,      // kernels/gemm: weights that are not packed
  one_token,  // kernels/skinny/product
  ring,       // ring_sm90.cuh: packed weights
  plain       // as every target: D of bf16 products of which TMA cannot write the rows
};

// What a call does, if D is aligned to 16 bytes.
SkinnyWaySm90 way_sm90(const SkinnyProblem& problem);

// Of the ring.
struct SkinnyChoiceSm90 {
  int form = -1;    // of skinny_variants_sm90(); negative: the one for the tokens
  int cluster = 0;  // CTAs that share k (kSkinnyClustersSm90); 0: as many as take the least time
};

// The ways, of a problem that each can do.
Plan plan_dense_sm90(const SkinnyProblem& problem, const SkinnyOperands& operands);
Plan plan_one_token_sm90(const SkinnyProblem& problem, const SkinnyOperands& operands);
Plan plan_ring_sm90(const SkinnyProblem& problem, const SkinnyOperands& operands,
                    const SkinnyChoiceSm90& choice);

}  // namespace assay::kernels

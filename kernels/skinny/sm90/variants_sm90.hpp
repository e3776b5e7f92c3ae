// SPDX-License-Identifier: Apache-2.0
// The compiled forms of the skinny product for Hopper, as far as their launch needs to know them.
#pragma once
#include <span>
#include <string>

#include "kernels/skinny/weights.hpp"

namespace assay::kernels {

// See SkinnyFormSm90.
struct SkinnyVariantSm90 {
  SkinnyWeights weights;
  int columns, line_bytes, lines;
  int stage_elements;  // along k
  int scale_width;     // bytes of a box of scales; 0: there is none
  int steps;           // MMAs along k of a segment, a lane's piece of four
  int segments;        // of a line
  int stages;          // of the ring
  int threads;
  int shared_bytes;
  const void* kernel;

  std::string name() const;         // "128x16x256_s6": rows, columns, k, stages
  std::string kernel_name() const;  // as the source spells it
  std::string symbol() const;       // as PTX spells it, in part
};

// Of one packing, the fewest columns first.
std::span<const SkinnyVariantSm90> skinny_variants_sm90(SkinnyWeights weights);

// The one with the fewest columns that have room for so many tokens, at most 64; not for bf16.
const SkinnyVariantSm90& skinny_variant_for_sm90(SkinnyWeights weights, int tokens);

}  // namespace assay::kernels

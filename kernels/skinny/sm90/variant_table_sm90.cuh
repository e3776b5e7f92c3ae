// SPDX-License-Identifier: Apache-2.0
// Compiles the forms for one format of weights.
#pragma once
#include "kernels/skinny/sm90/ring_sm90.cuh"
#include "kernels/skinny/sm90/variants_sm90.hpp"

namespace assay::kernels {

template <class F, int kColumns, int kLineBytes, int kLines>
SkinnyVariantSm90 skinny_variant_sm90() {
  using Form = SkinnyFormSm90<F::kWeights, kColumns, kLineBytes, kLines>;
  return {.weights = F::kWeights,
          .columns = kColumns,
          .line_bytes = kLineBytes,
          .lines = kLines,
          .stage_elements = kLines * Form::kLineElements,
          .scale_width = Form::kScaleWidth,
          .steps = Form::kSteps,
          .segments = Form::kSegments,
          .stages = Form::kStages,
          .threads = Form::kThreads,
          .shared_bytes = Form::kSharedBytes,
          .kernel = reinterpret_cast<const void*>(&skinny_sm90<F, kColumns, kLineBytes, kLines>)};
}

// The form for at most 8, 16, 32 and 64 tokens, of 128 rows, was the fastest at all of five sizes
// on an H100: with 192 or 256 rows the last pass has more of them in vain. Four warpgroups gain up
// to 10% with weights of 4 bits and up to 8 tokens, at big layers, and lose up to 7% at small ones;
// in other forms they lose 2 to 15% on average (14 layers on an H200:
// results/h200/2026-11-27-skinny-in-place/forms.csv.gz).
template <class F>
std::span<const SkinnyVariantSm90> skinny_forms_sm90() {
  // columns, bytes of a line, lines
  constexpr int kLines = F::kBits == 4 ? 2 : 1, kLong = F::kBits == 2 ? 64 : 128;
  static const SkinnyVariantSm90 all[] = {
      skinny_variant_sm90<F, 8, 128, kLines>(), skinny_variant_sm90<F, 16, 128, 1>(),
      skinny_variant_sm90<F, 32, 128, 1>(), skinny_variant_sm90<F, 64, kLong, 1>()};
  return all;
}

}  // namespace assay::kernels

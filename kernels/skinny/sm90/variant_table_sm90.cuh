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
// on an H100 (a sweep that is not kept): with 192 or 256 rows the last pass has more of them in
// vain. On an H200 it was so in 49 of 60 single calls of 32 and 64 tokens and in 38 of 60 rows of
// them, by an older kernel (results/h200/2026-11-27-skinny-before). Four warpgroups gain up to 10%
// with weights of 4 bits and up to 8 tokens, at big layers, and lose up to 7% at small ones; in
// other forms calls take 1.00 to 1.15 times as long with them, 0.99 to 1.17 times in rows (means by
// form and packing of 14 layers on an H200: forms.csv.gz and forms_rows.csv.gz of
// results/h200/2026-11-27-skinny-in-place).
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

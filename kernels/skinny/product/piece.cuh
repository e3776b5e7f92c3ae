// SPDX-License-Identifier: Apache-2.0
// What a chunk is: 64 bytes of a row of W, 16 of each of four lanes.
#pragma once
#include "kernels/skinny/product/formats.cuh"
#include "kernels/skinny/product/launch.hpp"

namespace assay::kernels {

template <class F>
struct Chunk {
  static constexpr int kElements = kSkinnyChunkBytes * 8 / F::kBits;
  static constexpr int kVectors = kElements / 4 / 8;  // of 8 elements of a token, of one lane
  static constexpr int kBlock = scale_block(F::kWeights);
  static constexpr bool kByGroup = kBlock == 128;               // scales apply to sums
  static constexpr bool kByBlock = kBlock > 0 && kBlock < 128;  // to weights
  // s2: a chunk has two groups, and so that a sum has one of them, a lane takes half of what it has
  // from one and half from the other, of what its neighbours loaded.
  static constexpr int kGroups = kByGroup ? kElements / kBlock : 1;
  // Words are unpacked a few at a time, as many as make whole vectors.
  static constexpr int kStepWords = F::kPairs < 4 ? 4 / F::kPairs : 1;
  static constexpr int kStepVectors = kStepWords * F::kPairs / 4;
  static constexpr int kScaleBytes = skinny_chunk_scales(F::kWeights);  // of one row
};

// What a CTA and a warp of it do: the same for who loads and who multiplies.
struct SkinnyShare {
  int rows_begin, rows_end;      // of the CTA, or its cluster
  int pieces_begin, pieces_end;  // of the CTA: whole slots, but for the row's last
  int row_group, k_group;        // of the warp
  int group_rows, pass_rows;     // of a row group in a pass, and of all
  int step;                      // from a warp's pieces to its next ones: 2^log_step
  int log_step;
};

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// How the skinny product is launched: what its host code and its kernel agree on.
#pragma once
#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/skinny/weights.hpp"

namespace assay::kernels {

constexpr int kSkinnyPieceBytes = 64;  // of a row of W, by the four lanes that share it

// What is fixed when it is compiled, for up to 8 * kTokenTiles tokens. Hopper has room in shared
// memory for the sums of more rows; many tokens are then read for two tiles of rows at a time.
template <int kTokenTiles, bool kHopper>
struct SkinnyShape {
  static constexpr int kWarps = kTokenTiles <= 2 ? 16 : 8;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kTiles = kTokenTiles <= 2 || !kHopper ? 1 : 2;  // of 16 rows, of a slot
  static constexpr int kRows = 16 * kTiles;
  static constexpr int kPieces = 2;  // of a row, of a slot: a line of 128 bytes
  // Slots of a warp's queue, where there is room for many or not.
  static constexpr int kDeep = 4, kShallow = 2;
};

// Bytes of scales that go with a piece of a row.
constexpr int skinny_piece_scales(SkinnyWeights w) {
  return scale_block(w) == 0
             ? 0
             : kSkinnyPieceBytes * 8 / weight_bits(w) / scale_block(w) * scale_bytes(w);
}
constexpr int skinny_slot_bytes(SkinnyWeights w, int rows, int pieces) {
  return rows * pieces * (kSkinnyPieceBytes + skinny_piece_scales(w));
}

struct SkinnyArguments {
  __nv_bfloat16* d;
  const __nv_bfloat16* x;
  const std::uint8_t* w;
  const std::uint8_t* scales;
  const float* scale;
  int m, n, k;
  int row_bytes, scale_row_bytes;
  int cluster;               // CTAs that share k
  int row_groups, k_groups;  // of warps
  int blocks;                // of SkinnyShape::kRows rows, of a warp in a pass
  int phase_pieces;          // pieces of k whose tokens are staged together
  bool deep;                 // queues are
  bool restage;              // in each pass: tokens were overwritten, or there are several phases
  bool sums_over_tokens;     // their memory is the same
  int token_stride;          // bytes
  int tokens_offset, sums_offset;
};

}  // namespace assay::kernels

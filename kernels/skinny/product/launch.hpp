// SPDX-License-Identifier: Apache-2.0
// How the skinny product is launched: what its host code and its kernel agree on.
#pragma once
#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/skinny/weights.hpp"

namespace assay::kernels {

constexpr int kSkinnyChunkBytes = 64;  // of a row of W, by four lanes

// What is fixed when it is compiled, for up to kTokens tokens: 1, 4, 8, 16, 32 or 64.
//
// mma.sync multiplies 16 rows by 8 columns. Where there are fewer tokens than columns, a row of W
// is given as kChunks rows, chunks of it, and a token as kChunks columns: of the products those of
// equal chunks count. So a warp's loads are the longer along a row the fewer the tokens are, and no
// multiplication is in vain.
template <int kTokens_>
struct SkinnyShape {
  static constexpr int kTokens = kTokens_;
  static constexpr int kChunks = kTokens < 8 ? 8 / kTokens : 1;
  static constexpr int kColumns = kTokens < 8 ? 1 : kTokens / 8;  // of 8, of the instruction
  static constexpr int kWarps = kTokens < 16 ? 16 : kTokens < 64 ? 8 : 4;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kPieceBytes = kSkinnyChunkBytes * kChunks;  // of a row, by one instruction
  // A slot of a queue: tiles that share what is read of tokens, where registers have room for their
  // sums, and pieces of a row: a line of 128 bytes at least.
  static constexpr int kTileRows = 16 / kChunks;
  static constexpr int kTiles = kTokens < 8 ? 2 : 1;
  static constexpr int kRows = kTileRows * kTiles;
  static constexpr int kPieces = kChunks > 1 ? 1 : 2;
  // Slots of a warp's queue, where there is room for many or not.
  static constexpr int kDeep = kTokens < 32 ? 4 : 3, kShallow = 2;
};

// Bytes of scales that go with a chunk.
constexpr int skinny_chunk_scales(SkinnyWeights w) {
  return scale_block(w) == 0
             ? 0
             : kSkinnyChunkBytes * 8 / weight_bits(w) / scale_block(w) * scale_bytes(w);
}
constexpr int skinny_slot_bytes(SkinnyWeights w, int tiles, int pieces) {
  return 16 * tiles * pieces * (kSkinnyChunkBytes + skinny_chunk_scales(w));
}

struct SkinnyArguments {
  __nv_bfloat16* d;
  const __nv_bfloat16* x;
  const std::uint8_t* w;
  const std::uint8_t* scales;
  const float* scale;
  int m, n, k;
  int row_bytes;
  int scale_row_bytes, scales_of_row_bytes;  // of the latter, what fills rows up is no part
  int cluster;                               // CTAs that share k
  // Of rows, to the clusters, and of slots along k, to the CTAs of one: each has as many, and the
  // first `rest` have one more. (Divisions cost the kernel's start some 0.3 us.)
  int rows_each, rows_rest, slots_each, slots_rest;
  int row_groups, k_groups;  // of warps; 2^log_k_groups
  int log_k_groups;
  int blocks;             // of SkinnyShape::kRows rows, of a warp in a pass
  int phase_pieces;       // pieces of k whose tokens are staged together
  bool deep;              // queues are
  bool restage;           // in each pass: tokens were overwritten, or there are several phases
  bool ahead;             // a phase's tokens come during the one before: there is room for two
  bool sums_over_tokens;  // their memory is the same
  int token_stride;       // bytes
  int tokens_offset, sums_offset;
};

}  // namespace assay::kernels

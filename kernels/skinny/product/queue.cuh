// SPDX-License-Identifier: Apache-2.0
// A warp's queue of weights on the way into shared memory.
//
// A slot is kTiles tiles of 16 rows as mma.sync sees them, kPieces times: after the weights come
// their scales, row by row of W.
//
// Each copy of a warp takes whole lines of 128 bytes. Chunks of a row of W make such lines by
// themselves: lane t then copies 16 bytes of the chunk that is row t / 4 of half a tile, in the
// order in which lanes multiply them. Else two pieces make one: lane t copies 16 bytes of row t / 8
// of four, and odd rows have the halves of their lines exchanged, so that the eight lanes of a
// phase of LDS.128 meet no bank twice.
#pragma once
#include <cstdint>

#include "harness/ptx/cp_async.cuh"
#include "kernels/skinny/product/piece.cuh"

namespace assay::kernels {

template <class F, class Shape>
class WeightQueue {
 public:
  using P = Chunk<F>;
  static constexpr int kSlotBytes = skinny_slot_bytes(F::kWeights, Shape::kTiles, Shape::kPieces);
  static constexpr int kHalfRows = Shape::kTileRows / 2;  // of W, of half a tile
  static constexpr bool kLines = Shape::kChunks == 1;     // two pieces are copied together
  static_assert(!kLines || Shape::kPieces == 2);
  static constexpr int kPieceScales = Shape::kChunks * P::kScaleBytes;
  static constexpr int kScaleRow = Shape::kPieces * kPieceScales;  // bytes of a slot's row of W
  static constexpr int kScales = 16 * Shape::kTiles * Shape::kPieces * kSkinnyChunkBytes;
  // How a lane takes part in copying the scales of a tile.
  static constexpr int kTileScales = Shape::kTileRows * kScaleRow;
  static constexpr int kEach = kTileScales > 128 ? 8 : 4;

  __device__ WeightQueue(const SkinnyArguments& arguments, const SkinnyShare& share,
                         std::uint8_t* memory)
      : a_(arguments),
        s_(share),
        memory_(memory),
        row_(share.rows_begin + share.row_group * share.group_rows),
        phase_(share.pieces_begin),
        phase_end_(min(share.pieces_begin + a_.phase_pieces, share.pieces_end)),
        piece_(phase_ + share.k_group * Shape::kPieces) {
    point();
  }

  // The lane's 16 bytes of half a tile. For s2, 8 bytes of the chunk's first 32 and 8 of the
  // others, a group each.
  __device__ void take(int slot, int half, int piece, std::uint32_t (&words)[4]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, row = lane / 4, column = lane % 4;
    const std::uint8_t* const at =
        memory_ + slot * kSlotBytes +
        (kLines ? half * 1024 + row * 128 : (half * Shape::kPieces + piece) * 512 + row * 64);
    const auto place = [&](int sixteen) {  // of the line
      return (kLines ? (piece * 4 + sixteen) ^ row % 2 * 4 : sixteen) * 16;
    };
    if constexpr (P::kGroups == 2) {
      const int eight = column % 2 * 8;
      const uint2 low = *reinterpret_cast<const uint2*>(at + place(column / 2) + eight),
                  high = *reinterpret_cast<const uint2*>(at + place(2 + column / 2) + eight);
      words[0] = low.x, words[1] = low.y, words[2] = high.x, words[3] = high.y;
    } else {
      const uint4 all = *reinterpret_cast<const uint4*>(at + place(column));
      words[0] = all.x, words[1] = all.y, words[2] = all.z, words[3] = all.w;
    }
  }
  // Where the scales of the chunk lie that is row `row` of the slot's tiles.
  __device__ const std::uint8_t* scales(int slot, int row, int piece) const {
    return memory_ + slot * kSlotBytes + kScales + row / Shape::kChunks * kScaleRow +
           (piece * Shape::kChunks + row % Shape::kChunks) * P::kScaleBytes;
  }

  // Starts the copies of the next slot of the warp's share, in the order in which it multiplies:
  // blocks of rows in each phase, phases in each pass. Commits a group, empty at the end.
  __device__ void load(int slot) {
    while (piece_ >= phase_end_ && row_ < s_.rows_end) {  // a warp may have nothing of a phase
      next_rows();
      point();
    }
    if (row_ < s_.rows_end) {
      const int lane = static_cast<int>(threadIdx.x) % 32;
      std::uint8_t* const to = memory_ + slot * kSlotBytes;
      const int left = min(phase_end_ * Shape::kPieceBytes, a_.row_bytes) -
                       piece_ * Shape::kPieceBytes - lane_offset();
      const int rows_left = s_.rows_end - row_ - lane_rows();
      constexpr int kCopies = 2 * Shape::kTiles * Shape::kPieces;
      constexpr int kAlong = kLines ? 1 : Shape::kPieces;  // copies of the same rows
      constexpr int kCopyRows = kLines ? 4 : kHalfRows;
      const std::int64_t row_step = std::int64_t{kCopyRows} * a_.row_bytes;
      const int line = lane / 8 * 128 + (lane % 8 ^ lane / 8 % 2 * 4) * 16;
#pragma unroll
      for (int c = 0; c < kCopies; ++c) {
        const int rows = c / kAlong * kCopyRows, along = c % kAlong * Shape::kPieceBytes;
        ptx::cp_async_filled<16>(to + c * 512 + (kLines ? line : lane * 16),
                                 from_ + c / kAlong * row_step + along,
                                 rows < rows_left && along < left ? 16 : 0);
      }
      if constexpr (P::kBlock > 0) {
        static_assert(kTileScales % kEach == 0 && kTileScales <= 32 * kEach);
        const int scales_left =
            a_.scale_row_bytes - piece_ * kPieceScales - lane * kEach % kScaleRow;
        const int scale_rows_left = s_.rows_end - row_ - lane * kEach / kScaleRow;
#pragma unroll
        for (int tile = 0; tile < Shape::kTiles; ++tile)
          if (lane * kEach < kTileScales)
            ptx::cp_async_filled<kEach>(
                to + kScales + tile * kTileScales + lane * kEach,
                scales_from_ + tile * std::int64_t{Shape::kTileRows} * a_.scale_row_bytes,
                tile * Shape::kTileRows < scale_rows_left && scales_left > 0 ? kEach : 0);
      }
      piece_ += s_.step;
      from_ += s_.step * Shape::kPieceBytes;
      if constexpr (P::kBlock > 0) scales_from_ += s_.step * kPieceScales;
    }
    ptx::cp_async_commit();
  }

 private:
  // Of what a lane copies: its offset in a piece, or two, and its row of W.
  __device__ static int lane_offset() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return kLines ? lane % 8 * 16 : lane / 4 % Shape::kChunks * kSkinnyChunkBytes + lane % 4 * 16;
  }
  __device__ static int lane_rows() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return kLines ? lane / 8 : lane / 4 / Shape::kChunks;
  }

  __device__ void point() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    from_ = a_.w + std::int64_t{row_ + lane_rows()} * a_.row_bytes + piece_ * Shape::kPieceBytes +
            lane_offset();
    if constexpr (P::kBlock > 0)
      scales_from_ = a_.scales +
                     std::int64_t{row_ + lane * kEach / kScaleRow} * a_.scale_row_bytes +
                     piece_ * kPieceScales + lane * kEach % kScaleRow;
  }

  __device__ void next_rows() {
    row_ += Shape::kRows;
    if (++block_ == a_.blocks) {
      block_ = 0;
      row_ -= s_.group_rows;
      phase_ = phase_end_;
      if (phase_ >= s_.pieces_end) {
        phase_ = s_.pieces_begin;
        row_ += s_.pass_rows;
      }
      phase_end_ = min(phase_ + a_.phase_pieces, s_.pieces_end);
    }
    piece_ = phase_ + s_.k_group * Shape::kPieces;
  }

  const SkinnyArguments& a_;
  const SkinnyShare& s_;
  std::uint8_t* memory_;
  int row_, block_ = 0;
  int phase_, phase_end_, piece_;
  const std::uint8_t* from_ = nullptr;
  const std::uint8_t* scales_from_ = nullptr;
};

}  // namespace assay::kernels

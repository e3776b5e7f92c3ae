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
#include "harness/ptx/launch_control.cuh"
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
  // One copy of a warp takes all scales of a slot: lane t those at kEach t.
  static constexpr int kEach = kScaleRow < 16 ? kScaleRow : 16;
  static constexpr int kScaleLanes = kScaleRow == 0 ? 0 : Shape::kRows * kScaleRow / kEach;
  static_assert(kScaleLanes <= 32);

  __device__ WeightQueue(const SkinnyArguments& arguments, const SkinnyShare& share,
                         std::uint8_t* memory)
      : a_(arguments),
        s_(share),
        memory_(memory),
        pass_row_(share.rows_begin),
        phase_(share.pieces_begin),
        phase_end_(min(share.pieces_begin + a_.phase_pieces, share.pieces_end)) {
    begin_run();
  }

  // Brings to L2 what the first slots will take.
  __device__ void prefetch(int slots) const {
    for (int slot = 0; slot < min(slots, left_); ++slot) {
      const int bytes = slot * s_.step * Shape::kPieceBytes;  // behind the first slot
#pragma unroll
      for (int c = 0; c < kCopies; ++c)
        if (c * kCopyRows < rows_left_ && bytes < bytes_left_)
          ptx::prefetch_l2(from_ + c * row_step() + bytes);
      if constexpr (P::kBlock > 0) {
        const int scales = slot * s_.step * kPieceScales;
        if (static_cast<int>(threadIdx.x % 32) < kScaleLanes && scales < scales_left_)
          ptx::prefetch_l2(scales_from_ + scales);
      }
    }
  }

  // The lane's 16 bytes of half a tile. For s2, 8 bytes of the chunk's first 32 and 8 of the
  // others, a group each.
  __device__ void take(int slot, int half, int piece, std::uint32_t (&words)[4]) const {
    const int lane = static_cast<int>(threadIdx.x % 32), row = lane / 4, column = lane % 4;
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
  // Where the scales of the chunk lie that is row `lane_row` of half a tile, `half`.
  __device__ const std::uint8_t* scales(int slot, int half, int lane_row, int piece) const {
    return memory_ + slot * kSlotBytes + kScales +
           (half * kHalfRows + lane_row / Shape::kChunks) * kScaleRow + piece * kPieceScales +
           lane_row % Shape::kChunks * P::kScaleBytes;
  }

  // Starts the copies of the next slot of the warp's share, in the order in which it multiplies:
  // blocks of rows in each phase, phases in each pass. Commits a group, empty at the end.
  __device__ void load(int slot) {
    if (left_ == 0) next_run();
    if (left_ > 0) {
      --left_;
      const int lane = static_cast<int>(threadIdx.x % 32);
      std::uint8_t* const to = memory_ + slot * kSlotBytes;
      const int place = kLines ? lane / 8 * 128 + (lane % 8 ^ lane / 8 % 2 * 4) * 16 : lane * 16;
#pragma unroll
      for (int c = 0; c < kCopies; ++c)
        ptx::cp_async_filled<16>(to + c * 512 + place, from_ + c * row_step(),
                                 c * kCopyRows < rows_left_ && bytes_left_ > 0 ? 16 : 0);
      from_ += s_.step * Shape::kPieceBytes;
      bytes_left_ -= s_.step * Shape::kPieceBytes;
      if constexpr (P::kBlock > 0) {
        if (lane < kScaleLanes)
          ptx::cp_async_filled<kEach>(to + kScales + lane * kEach, scales_from_,
                                      min(max(scales_left_, 0), kEach));
        scales_from_ += s_.step * kPieceScales;
        scales_left_ -= s_.step * kPieceScales;
      }
    }
    ptx::cp_async_commit();
  }

 private:
  // Of what a lane copies: its offset in a piece, or two, and its row of W.
  __device__ static int lane_offset() {
    const int lane = static_cast<int>(threadIdx.x % 32);
    return kLines ? lane % 8 * 16 : lane / 4 % Shape::kChunks * kSkinnyChunkBytes + lane % 4 * 16;
  }
  __device__ static int lane_rows() {
    const int lane = static_cast<int>(threadIdx.x % 32);
    return kLines ? lane / 8 : lane / 4 / Shape::kChunks;
  }

  static_assert(kLines || Shape::kPieces == 1);  // so no two copies are of the same rows
  static constexpr int kCopies = 2 * Shape::kTiles * Shape::kPieces;
  static constexpr int kCopyRows = kLines ? 4 : kHalfRows;
  __device__ std::int64_t row_step() const { return std::int64_t{kCopyRows} * a_.row_bytes; }

  // A run: the slots of a block of rows in a phase.
  __device__ void begin_run() {
    const int row = pass_row_ + s_.row_group * s_.group_rows + block_ * Shape::kRows;
    const int piece = phase_ + s_.k_group * Shape::kPieces;
    left_ = row < s_.rows_end ? max(phase_end_ - piece + s_.step - 1, 0) >> s_.log_step : 0;
    rows_left_ = s_.rows_end - row - lane_rows();
    const int byte = piece * Shape::kPieceBytes + lane_offset();
    bytes_left_ = min(phase_end_ * Shape::kPieceBytes, a_.row_bytes) - byte;
    from_ = a_.w + std::int64_t{row + lane_rows()} * a_.row_bytes + byte;
    if constexpr (P::kBlock > 0) {
      const int at = static_cast<int>(threadIdx.x % 32) * kEach;
      const int scale_row = row + at / kScaleRow, scale = piece * kPieceScales + at % kScaleRow;
      scales_left_ = scale_row < s_.rows_end ? a_.scales_of_row_bytes - scale : 0;
      scales_from_ = a_.scales + std::int64_t{scale_row} * a_.scale_row_bytes + scale;
    }
  }

  // A warp may have nothing of a phase, and no row of a block.
  __device__ void next_run() {
    while (left_ == 0 && pass_row_ < s_.rows_end) {
      if (++block_ == a_.blocks) {
        block_ = 0;
        phase_ = phase_end_;
        if (phase_ >= s_.pieces_end) {
          phase_ = s_.pieces_begin;
          pass_row_ += s_.pass_rows;
        }
        phase_end_ = min(phase_ + a_.phase_pieces, s_.pieces_end);
      }
      begin_run();
    }
  }

  const SkinnyArguments& a_;
  const SkinnyShare& s_;
  std::uint8_t* memory_;
  int pass_row_, block_ = 0, phase_, phase_end_;
  // Of the run: slots, and what a lane has to copy: rows, bytes of them and of scales.
  int left_, rows_left_, bytes_left_, scales_left_ = 0;
  const std::uint8_t* from_ = nullptr;
  const std::uint8_t* scales_from_ = nullptr;
};

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The tokens' elements in shared memory, in the order in which lanes take them.
#pragma once
#include <cstdint>

#include "harness/ptx/cp_async.cuh"
#include "kernels/skinny/product/piece.cuh"

namespace assay::kernels {

// Of two chunks, 2 u and 2 u + 1 of a phase, vector v of lane column q (16 bytes) lies at
// 8 V u + 8 v + q and + 4, V being a lane's vectors of a chunk, pairs permuted as unpacked weights
// have them. A token's row is padded to 64 bytes more than a multiple of 128. So the eight lanes of
// a phase of LDS.128, four columns of two chunks or of two tokens, meet no bank twice.
template <class F, class Shape>
struct TokenStage {
  using P = Chunk<F>;
  static constexpr int kOfChunk = 4 * P::kVectors;
  static constexpr int kTogether = F::kElements == 16 ? 2 : 1;  // vectors permuted together

  const SkinnyArguments& a;
  std::uint8_t* memory;

  // Where tokens come ahead there are two: `buffer` is 0 or 1.
  __device__ int buffer_vectors() const { return a.m * a.token_stride / 16; }

  // Puts copies of those of pieces `begin` to `end` on the way, up to whole slots: zeros end a row.
  // They belong to the group that is committed next.
  __device__ void fetch(int begin, int end, int buffer) const {
    const int row_vectors = a.k / 8;
    for_mine(begin, end, buffer, [&](uint4* to, int token, int at) {
#pragma unroll
      for (int t = 0; t < kTogether; ++t)
        ptx::cp_async_filled<16>(to + 8 * t, a.x + (std::int64_t{token} * row_vectors + at + t) * 8,
                                 at + t < row_vectors ? 16 : 0);
    });
  }

  // Puts what this thread fetched, and waited for, into its order. A barrier must follow.
  __device__ void permute(int begin, int end, int buffer) const {
    if constexpr (!F::kNatural) {
      for_mine(begin, end, buffer, [&](uint4* at, int, int) {
        std::uint32_t words[4 * kTogether];
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          const uint4 v = at[8 * t];
          words[4 * t] = v.x, words[4 * t + 1] = v.y;
          words[4 * t + 2] = v.z, words[4 * t + 3] = v.w;
        }
#pragma unroll
        for (int w = 0; w < 4 * kTogether; w += F::kPairs) {
          std::uint32_t from[F::kPairs], to[F::kPairs];
#pragma unroll
          for (int p = 0; p < F::kPairs; ++p) from[p] = words[w + p];
          permute_pairs(from, to);
#pragma unroll
          for (int p = 0; p < F::kPairs; ++p) words[w + p] = to[p];
        }
#pragma unroll
        for (int t = 0; t < kTogether; ++t)
          at[8 * t] = {words[4 * t], words[4 * t + 1], words[4 * t + 2], words[4 * t + 3]};
      });
    }
  }

  // Where this lane takes the first vector of column `block` * 8 + lane / 4 of the instruction
  // from, in the phase's first slot: vector v lies at 8 v, piece p of a slot at kPiece p, and what
  // a slot has, kSlot(), behind that of the slot before. A column without a token has the last
  // token's, and nobody wants its sum.
  static constexpr int kPiece = 4;
  static constexpr int kSlot = Shape::kPieces * Shape::kChunks * kOfChunk;
  static_assert(Shape::kPieces == 1 || Shape::kChunks == 1);
  __device__ const uint4* of_lane(int block) const {
    const int lane = static_cast<int>(threadIdx.x % 32), n = block * 8 + lane / 4;
    const int token = min(n / Shape::kChunks, a.m - 1);
    return reinterpret_cast<const uint4*>(memory + token * a.token_stride) +
           place(n % Shape::kChunks, 0) + lane % 4;
  }

 private:
  __device__ static int place(int chunk, int v) {
    return chunk / 2 * 2 * kOfChunk + v * 8 + chunk % 2 * 4;
  }

  // Calls act(where it lies, token, which vector of the token's row) for each vector, or two, that
  // this thread stages.
  template <class Act>
  __device__ void for_mine(int begin, int end, int buffer, const Act& act) const {
    uint4* const to = reinterpret_cast<uint4*>(memory) + buffer * buffer_vectors();
    const int slots = (end - begin + Shape::kPieces - 1) / Shape::kPieces;
    const int each = slots * Shape::kPieces * Shape::kChunks * kOfChunk / kTogether;
    int token = 0, i = static_cast<int>(threadIdx.x);
    while (true) {
      while (i >= each) {
        i -= each;
        if (++token == a.m) return;
      }
      const auto first = static_cast<unsigned>(i) * kTogether;
      const int chunk = static_cast<int>(first / kOfChunk),
                within = static_cast<int>(first % kOfChunk);
      constexpr int kOfGroup = P::kVectors / P::kGroups;  // vectors of a lane in a group
      const int group = within / (4 * kOfGroup), in_group = within % (4 * kOfGroup);
      const int q = in_group / kOfGroup, v = group * kOfGroup + in_group % kOfGroup;
      act(to + token * (a.token_stride / 16) + place(chunk, v) + q, token,
          begin * Shape::kChunks * kOfChunk + i * kTogether);
      i += Shape::kThreads;
    }
  }
};

}  // namespace assay::kernels

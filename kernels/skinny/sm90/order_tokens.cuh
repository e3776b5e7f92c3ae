// SPDX-License-Identifier: Apache-2.0
// Tokens in the order along k in which lanes have weights.
//
// An MMA takes of A what lies in the registers of the four lanes of a row, so its 16 elements along
// k are two pairs of each lane's piece of W. Its B, the tokens, must have the same 16 beside each
// other: 16 bytes are a pair that goes with each of the four lanes, pairs in the order in which
// words are unpacked (formats.cuh). A sum over k does not depend on its order.
//
// TMA brings tokens as they are, and the warps that it leaves idle put them into order in place, a
// stage ahead of the MMAs.
#pragma once
#include <cstdint>

#include "kernels/skinny/product/formats.cuh"
#include "kernels/skinny/sm90/form_sm90.hpp"

namespace assay::kernels {

// What a lane of the kOrderWarps warps does. A unit is four pairs of each of the four pieces of a
// segment: 8 elements beside each other, or half of 16 that share a word of weights. A warp puts
// four units of eight tokens into order at once, whole segments: two blocks of 64 elements, whose
// rows of 128 bytes are swizzled. Its lanes meet in no bank.
template <class F, class Form>
class TokenOrderSm90 {
 public:
  __device__ TokenOrderSm90(int warp, int lane) : warp_(warp) {
    const int token = lane % 8, unit = lane / 8;
    // Of 16 bytes of a token's two blocks.
    const auto place = [=](int chunk) {
      return (chunk / 8 * Form::kColumns + token) * 128 + (chunk ^ token) % 8 * 16;
    };
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int chunk = unit / kUnits * (4 * kUnits) + i * kUnits + unit % kUnits;
      from_[i] = F::kPairs == 8 ? place(chunk / 2 * 2) + unit % 2 * 8 : place(chunk);
      to_[i] = place(unit * 4 + i);
    }
  }

  // Puts the m tokens of a stage into order, in place. Two groups are on the way at once.
  __device__ void stage(std::uint8_t* tokens, int m) const {
    const int groups = kGroups * (Form::kColumns == 8 ? 1 : (m + 7) / 8);
#pragma unroll 1
    for (int i = warp_; i < groups; i += 2 * Form::kOrderWarps) {
      std::uint8_t* group[2];
      std::uint32_t pairs[2][4][4];
      const bool two = i + Form::kOrderWarps < groups;
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        const int index = i + g * Form::kOrderWarps;
        group[g] =
            tokens + index % kGroups * (2 * Form::kColumns * 128) + index / kGroups * (8 * 128);
        if (g == 1 && !two) break;
#pragma unroll
        for (int piece = 0; piece < 4; ++piece) load(group[g], from_[piece], pairs[g][piece]);
      }
      __syncwarp();
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        if (g == 1 && !two) break;
#pragma unroll
        for (int w = 0; w < 4; ++w)
          *reinterpret_cast<uint4*>(group[g] + to_[w]) = {pairs[g][0][w], pairs[g][1][w],
                                                          pairs[g][2][w], pairs[g][3][w]};
      }
    }
  }

 private:
  static constexpr int kUnits = Form::kPieceElements / 8;  // of a segment
  static_assert(kUnits == 2 || kUnits == 4);
  static constexpr int kGroups = Form::kLines * Form::kLineElements / 128;  // of eight tokens

  // A piece's four pairs, as they are unpacked.
  __device__ static void load(const std::uint8_t* group, int from, std::uint32_t (&pairs)[4]) {
    std::uint32_t natural[4];
    if constexpr (F::kPairs == 8) {
      // Pairs 2h, 2h + 1, 2h + 4, 2h + 5 of a word's eight make the four of its half h.
      const uint2 low = *reinterpret_cast<const uint2*>(group + from),
                  high = *reinterpret_cast<const uint2*>(group + (from ^ 16));
      natural[0] = low.x, natural[1] = low.y, natural[2] = high.x, natural[3] = high.y;
    } else {
      const uint4 v = *reinterpret_cast<const uint4*>(group + from);
      natural[0] = v.x, natural[1] = v.y, natural[2] = v.z, natural[3] = v.w;
    }
    constexpr int kPairs = F::kNatural ? 1 : F::kPairs < 4 ? F::kPairs : 4;
#pragma unroll
    for (int w = 0; w < 4; w += kPairs) {
      std::uint32_t of_word[kPairs], permuted[kPairs];
#pragma unroll
      for (int p = 0; p < kPairs; ++p) of_word[p] = natural[w + p];
      permute_pairs(of_word, permuted);
#pragma unroll
      for (int p = 0; p < kPairs; ++p) pairs[w + p] = permuted[p];
    }
  }

  int warp_;
  int from_[4], to_[4];  // offsets of pieces, and of pairs put into order
};

}  // namespace assay::kernels

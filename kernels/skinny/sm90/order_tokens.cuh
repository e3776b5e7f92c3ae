// SPDX-License-Identifier: Apache-2.0
// Tokens in the order along k in which lanes have weights.
//
// An MMA takes of A what lies in the registers of the four lanes of a row, so its 16 elements along
// k are two pairs of each lane's piece of W. Its B, the tokens, must have the same 16 beside each
// other: 16 bytes are a pair that goes with each of the four lanes, pairs in the order in which
// words are unpacked (formats.cuh). A sum over k does not depend on its order.
#pragma once
#include <cuda_bf16.h>

#include <cstdint>

#include "harness/ptx/fence.cuh"
#include "harness/ptx/launch_control.cuh"
#include "harness/ptx/named_barrier.cuh"
#include "kernels/skinny/product/formats.cuh"
#include "kernels/skinny/sm90/form_sm90.hpp"

namespace assay::kernels {

// What a thread puts into order at once: the same 8 elements, or 16 that share words of weights, of
// the four pieces of a segment.
template <class F>
struct TokenOrderSm90 {
  using Form = SkinnyFormSm90<F::kWeights, 8, 128, 1>;  // pieces are those of all forms
  static constexpr int kPiece = Form::kPieceElements, kSegment = 4 * kPiece;
  static constexpr int kVectors = F::kPairs == 8 ? 2 : 1;  // of 8 elements, of a piece
  static constexpr int kUnits = kPiece / 8 / kVectors;     // of a segment
  static constexpr int kWords = 4 * kVectors;              // pairs of a piece, and what is put

  // Unit `index` of a token of k elements, in order; zeros beyond k. 16 bytes have a pair of each
  // piece.
  __device__ static void get(const __nv_bfloat16* token, int index, int k, uint4 (&to)[kWords]) {
    const int element = index / kUnits * kSegment + index % kUnits * 8 * kVectors;
    std::uint32_t words[4][kWords];
#pragma unroll
    for (int piece = 0; piece < 4; ++piece)
#pragma unroll
      for (int t = 0; t < kVectors; ++t) {
        const int at = element + piece * kPiece + t * 8;
        uint4 v = {};
        if (at < k) v = *reinterpret_cast<const uint4*>(token + at);
        words[piece][4 * t] = v.x, words[piece][4 * t + 1] = v.y;
        words[piece][4 * t + 2] = v.z, words[piece][4 * t + 3] = v.w;
      }
    if constexpr (!F::kNatural) {
#pragma unroll
      for (int piece = 0; piece < 4; ++piece)
#pragma unroll
        for (int w = 0; w < kWords; w += F::kPairs) {
          std::uint32_t natural[F::kPairs], permuted[F::kPairs];
#pragma unroll
          for (int p = 0; p < F::kPairs; ++p) natural[p] = words[piece][w + p];
          permute_pairs(natural, permuted);
#pragma unroll
          for (int p = 0; p < F::kPairs; ++p) words[piece][w + p] = permuted[p];
        }
    }
#pragma unroll
    for (int w = 0; w < kWords; ++w) to[w] = {words[0][w], words[1][w], words[2][w], words[3][w]};
  }
};

// X is [m][k], `ordered` [m][row_elements], k rounded up to whole segments, zeros beyond k.
template <class F>
__global__ void __launch_bounds__(kSkinnyOrderThreads)
    order_tokens_sm90(const __nv_bfloat16* x, __nv_bfloat16* ordered, int m, int k,
                      int row_elements) {
  using Order = TokenOrderSm90<F>;
  ptx::wait_for_dependencies();
  ptx::launch_dependents();  // now, for what weights are is settled
  const int i = static_cast<int>(blockIdx.x) * kSkinnyOrderThreads + static_cast<int>(threadIdx.x);
  const int each = row_elements / Order::kSegment * Order::kUnits;  // units of a token
  const int token = i / each, unit = i % each;
  if (token >= m) return;
  uint4 words[Order::kWords];
  Order::get(x + std::int64_t{token} * k, unit, k, words);
  uint4* const to =
      reinterpret_cast<uint4*>(ordered + std::int64_t{token} * row_elements) + unit * Order::kWords;
#pragma unroll
  for (int w = 0; w < Order::kWords; ++w) to[w] = words[w];
}

// The same for the `count` stages of a CTA from `first`, into its shared memory, by all consumers.
// A warp has four units, which lie beside each other, of eight tokens, which lie in different
// banks. CTAs begin in different places, for all have the same to read. Columns beyond the tokens
// become zeros.
template <class F, class Form>
__device__ __forceinline__ void order_tokens_here_sm90(const SkinnyArgumentsSm90& a,
                                                       std::uint8_t* shared, int first, int count,
                                                       int thread) {
  using Order = TokenOrderSm90<F>;
  constexpr int kThreads = 128 * Form::kConsumers, kEights = Form::kColumns / 8;
  constexpr int kStageUnits = Form::kLines * Form::kLineElements / Order::kSegment * Order::kUnits;
  static_assert(kStageUnits % 4 == 0);
  const int fours = count * kStageUnits / 4;  // of units
  const int begin = static_cast<int>(blockIdx.x) * 5 % fours;
#pragma unroll 2
  for (int i = thread; i < fours * 32 * kEights; i += kThreads) {
    int four = i / 32 / kEights + begin;
    if (four >= fours) four -= fours;
    const int token = i % 8 + i / 32 % kEights * 8, unit = i / 8 % 4 + four * 4;
    uint4 words[Order::kWords];
    Order::get(a.x + std::int64_t{token} * a.k, first * kStageUnits + unit, token < a.m ? a.k : 0,
               words);
#pragma unroll
    for (int w = 0; w < Order::kWords; ++w) {
      const int chunk = unit * Order::kWords + w;  // of 16 bytes, eight to a swizzled row
      *reinterpret_cast<uint4*>(shared + Form::kTokens +
                                (chunk / 8 * Form::kColumns + token) * 128 +
                                (chunk ^ token) % 8 * 16) = words[w];
    }
  }
  ptx::fence_proxy_async_shared();
  ptx::named_barrier_sync(1, kThreads);
}

}  // namespace assay::kernels

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

#include "harness/ptx/launch_control.cuh"
#include "kernels/skinny/product/formats.cuh"
#include "kernels/skinny/sm90/form_sm90.hpp"

namespace assay::kernels {

// X is [m][k], `ordered` [m][row_elements], k rounded up to whole segments (of 4 pieces), zeros
// beyond k. A thread has the same 8 elements, or 16 that share words of weights, of four pieces.
template <class F>
__global__ void __launch_bounds__(kSkinnyOrderThreads)
    order_tokens_sm90(const __nv_bfloat16* x, __nv_bfloat16* ordered, int m, int k,
                      int row_elements) {
  using Form = SkinnyFormSm90<F::kWeights, 8, 128, 1>;  // pieces are those of all forms
  constexpr int kPiece = Form::kPieceElements;
  constexpr int kTogether = F::kPairs == 8 ? 2 : 1;  // vectors of 8
  constexpr int kUnits = kPiece / 8 / kTogether;     // of a segment
  constexpr int kWords = 4 * kTogether;              // pairs of a lane
  ptx::wait_for_dependencies();
  ptx::launch_dependents();  // now, for what weights are is settled
  const int i = static_cast<int>(blockIdx.x) * kSkinnyOrderThreads + static_cast<int>(threadIdx.x);
  const int each = row_elements / (4 * kPiece) * kUnits;  // threads of a token
  const int token = i / each, segment = i % each / kUnits, unit = i % kUnits;
  if (token >= m) return;
  const int element = segment * 4 * kPiece + unit * 8 * kTogether;
  const __nv_bfloat16* const from = x + std::int64_t{token} * k;
  std::uint32_t words[4][kWords];
#pragma unroll
  for (int lane = 0; lane < 4; ++lane)
#pragma unroll
    for (int t = 0; t < kTogether; ++t) {
      const int at = element + lane * kPiece + t * 8;
      uint4 v = {};
      if (at < k) v = *reinterpret_cast<const uint4*>(from + at);
      words[lane][4 * t] = v.x, words[lane][4 * t + 1] = v.y;
      words[lane][4 * t + 2] = v.z, words[lane][4 * t + 3] = v.w;
    }
  if constexpr (!F::kNatural) {
#pragma unroll
    for (int lane = 0; lane < 4; ++lane)
#pragma unroll
      for (int w = 0; w < kWords; w += F::kPairs) {
        std::uint32_t natural[F::kPairs], permuted[F::kPairs];
#pragma unroll
        for (int p = 0; p < F::kPairs; ++p) natural[p] = words[lane][w + p];
        permute_pairs(natural, permuted);
#pragma unroll
        for (int p = 0; p < F::kPairs; ++p) words[lane][w + p] = permuted[p];
      }
  }
  uint4* const to = reinterpret_cast<uint4*>(ordered + std::int64_t{token} * row_elements) +
                    (segment * kUnits + unit) * kWords;
#pragma unroll
  for (int w = 0; w < kWords; ++w) to[w] = {words[0][w], words[1][w], words[2][w], words[3][w]};
}

}  // namespace assay::kernels

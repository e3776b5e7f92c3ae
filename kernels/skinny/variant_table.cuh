// SPDX-License-Identifier: Apache-2.0
// Picks a compiled form of the skinny product.
#pragma once
#include "kernels/skinny/skinny.cuh"

namespace assay::kernels {

template <class F, bool kHopper>
const void* skinny_variant(int token_tiles) {
  switch (token_tiles) {
    case 1:
      return reinterpret_cast<const void*>(&skinny_product<F, 1, kHopper>);
    case 2:
      return reinterpret_cast<const void*>(&skinny_product<F, 2, kHopper>);
    case 4:
      return reinterpret_cast<const void*>(&skinny_product<F, 4, kHopper>);
    default:
      return reinterpret_cast<const void*>(&skinny_product<F, 8, kHopper>);
  }
}

template <bool kHopper>
const void* skinny_variant(SkinnyWeights weights, int token_tiles) {
  switch (weights) {
    case SkinnyWeights::bf16:
      return skinny_variant<Bf16, kHopper>(token_tiles);
    case SkinnyWeights::s8:
      return skinny_variant<S8, kHopper>(token_tiles);
    case SkinnyWeights::e4m3:
      return skinny_variant<E4m3, kHopper>(token_tiles);
    case SkinnyWeights::s4:
      return skinny_variant<S4, kHopper>(token_tiles);
    case SkinnyWeights::s2:
      return skinny_variant<S2, kHopper>(token_tiles);
    case SkinnyWeights::mxf4:
      return skinny_variant<Mxf4, kHopper>(token_tiles);
    default:
      return skinny_variant<Nvf4, kHopper>(token_tiles);
  }
}

}  // namespace assay::kernels

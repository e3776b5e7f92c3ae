// SPDX-License-Identifier: Apache-2.0
// Picks a compiled form of the skinny product.
#pragma once
#include "kernels/skinny/product/product.cuh"

namespace assay::kernels {

template <class F, bool kHopper>
const void* skinny_variant(int tokens) {
  switch (tokens) {
    case 1:
      return reinterpret_cast<const void*>(&skinny_product<F, 1, kHopper>);
    case 4:
      return reinterpret_cast<const void*>(&skinny_product<F, 4, kHopper>);
    case 8:
      return reinterpret_cast<const void*>(&skinny_product<F, 8, kHopper>);
    case 16:
      return reinterpret_cast<const void*>(&skinny_product<F, 16, kHopper>);
    case 32:
      return reinterpret_cast<const void*>(&skinny_product<F, 32, kHopper>);
    default:
      return reinterpret_cast<const void*>(&skinny_product<F, 64, kHopper>);
  }
}

template <bool kHopper>
const void* skinny_variant(SkinnyWeights weights, int tokens) {
  switch (weights) {
    case SkinnyWeights::bf16:
      return skinny_variant<Bf16, kHopper>(tokens);
    case SkinnyWeights::s8:
      return skinny_variant<S8, kHopper>(tokens);
    case SkinnyWeights::e4m3:
      return skinny_variant<E4m3, kHopper>(tokens);
    case SkinnyWeights::s4:
      return skinny_variant<S4, kHopper>(tokens);
    case SkinnyWeights::s2:
      return skinny_variant<S2, kHopper>(tokens);
    case SkinnyWeights::mxf4:
      return skinny_variant<Mxf4, kHopper>(tokens);
    default:
      return skinny_variant<Nvf4, kHopper>(tokens);
  }
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// Picks a compiled form of the skinny product.
#pragma once
#include "kernels/skinny/product/product.cuh"

namespace assay::kernels {

template <class F>
const void* skinny_variant(int tokens) {
  switch (tokens) {
    case 1:
      return reinterpret_cast<const void*>(&skinny_product<F, 1, false>);
    case 4:
      return reinterpret_cast<const void*>(&skinny_product<F, 4, false>);
    case 8:
      return reinterpret_cast<const void*>(&skinny_product<F, 8, false>);
    case 16:
      return reinterpret_cast<const void*>(&skinny_product<F, 16, false>);
    case 32:
      return reinterpret_cast<const void*>(&skinny_product<F, 32, false>);
    default:
      return reinterpret_cast<const void*>(&skinny_product<F, 64, false>);
  }
}

// Calls of<F>() with the format of the weights.
template <class Of>
const void* of_format(SkinnyWeights weights, const Of& of) {
  switch (weights) {
    case SkinnyWeights::bf16:
      return of.template operator()<Bf16>();
    case SkinnyWeights::s8:
      return of.template operator()<S8>();
    case SkinnyWeights::e4m3:
      return of.template operator()<E4m3>();
    case SkinnyWeights::s4:
      return of.template operator()<S4>();
    case SkinnyWeights::s2:
      return of.template operator()<S2>();
    case SkinnyWeights::mxf4:
      return of.template operator()<Mxf4>();
    default:
      return of.template operator()<Nvf4>();
  }
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The tensor maps of block-scaled operands, dense and grouped, as yet to be encoded.
#pragma once
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/gemm_block_scaled/sm90/maps_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"

namespace assay::kernels {

// Row-major: of A and B so many rows of k elements, of their scales what there is of them
// (block_scales.hpp), of D rows x n.
struct BlockScaledMatrices {
  const void *a, *b, *scale_a, *scale_b, *d;
  int rows, rows_b, n, k;
  int scale_rows_a, scale_columns_a;  // rows of scales along k, and A's rows in each
  int scale_rows_b;
};

struct BlockScaledMapShapesSm90 {
  ptx::TensorMapShape a, b, scale_a, scale_b, d;

  // encode: CUtensorMap(const ptx::TensorMapShape&)
  template <class Encode>
  BlockScaledMaps encoded(const Encode& encode) const {
    return {.a = encode(a),
            .b = encode(b),
            .scale_a = encode(scale_a),
            .scale_b = encode(scale_b),
            .d = encode(d)};
  }
};
BlockScaledMapShapesSm90 map_shapes_of_block_scaled_sm90(const BlockScaledVariantSm90& variant,
                                                         const BlockScaledMatrices& matrices);

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/sm90/map_shapes_sm90.hpp"

#include "kernels/frame/matrix_shape.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"

namespace assay::kernels {

BlockScaledMapShapesSm90 map_shapes_of_block_scaled_sm90(const BlockScaledVariantSm90& v,
                                                         const BlockScaledMatrices& x) {
  constexpr auto kBytes = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr auto kFloat = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  constexpr auto kSwizzle = ptx::Swizzle::bytes128, kPlain = ptx::Swizzle::none;
  return {
      .a = matrix_shape(kBytes, x.a, x.rows, x.k, x.k, v.tile_m / v.cluster_n, v.tile_k, kSwizzle),
      .b =
          matrix_shape(kBytes, x.b, x.rows_b, x.k, x.k, v.tile_n / v.cluster_m, v.tile_k, kSwizzle),
      .scale_a = matrix_shape(kFloat, x.scale_a, x.scale_rows_a, x.scale_columns_a,
                              scale_a_stride(x.scale_columns_a), 1, v.scale_rows, kPlain),
      .scale_b = matrix_shape(kFloat, x.scale_b, x.scale_rows_b, blocks_of_scales(x.k),
                              scale_b_stride(x.k), v.scale_blocks, 4, kPlain),
      .d = matrix_shape(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, x.d, x.rows, x.n, x.n, 16, 64, kSwizzle)};
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The tensor map of a row-major matrix.
#pragma once
#include "harness/ptx/descriptor/tensor_map.hpp"

namespace assay::kernels {

// Elements of one, two or four bytes: uint8, bf16, f16 or f32. Rows begin `pitch` elements after
// each other, and boxes have box_rows x box_columns.
ptx::TensorMapShape matrix_shape(CUtensorMapDataType type, const void* base, int rows, int columns,
                                 int pitch, int box_rows, int box_columns, ptx::Swizzle swizzle);

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/matrix_shape.hpp"

#include <cstdint>

namespace assay::kernels {

ptx::TensorMapShape matrix_shape(CUtensorMapDataType type, const void* base, int rows, int columns,
                                 int pitch, int box_rows, int box_columns, ptx::Swizzle swizzle) {
  const std::uint64_t bytes = type == CU_TENSOR_MAP_DATA_TYPE_UINT8     ? 1
                              : type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 4
                                                                        : 2;
  return {.type = type,
          .base = const_cast<void*>(base),
          .extents = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)},
          .strides = {bytes * static_cast<std::uint64_t>(pitch)},
          .box = {static_cast<std::uint32_t>(box_columns), static_cast<std::uint32_t>(box_rows)},
          .swizzle = swizzle};
}

}  // namespace assay::kernels

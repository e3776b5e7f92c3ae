// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/model_map.hpp"

#include <algorithm>
#include <bit>

#include "harness/model/copy/tensor_map.hpp"
#include "harness/model/model.hpp"

namespace assay::kernels {

CUtensorMap model_map(const ptx::TensorMapShape& shape) {
  const auto element = shape.type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16  ? model::MapElement::bf16
                       : shape.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 ? model::MapElement::f16
                       : shape.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? model::MapElement::f32
                                                                       : model::MapElement::u8;
  model::TensorMap map{.type = element,
                       .rank = static_cast<int>(shape.extents.size()),
                       .address = std::bit_cast<model::Address>(shape.base),
                       .swizzle = static_cast<model::MapSwizzle>(shape.swizzle)};
  std::ranges::copy(shape.extents, map.extents.begin());
  std::ranges::copy(shape.strides, map.strides.begin());
  std::ranges::copy(shape.box, map.box.begin());
  return std::bit_cast<CUtensorMap>(model::encode(map));
}

}  // namespace assay::kernels

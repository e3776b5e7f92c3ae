// SPDX-License-Identifier: Apache-2.0
// Tensor maps: the 128-byte descriptors that tell TMA what a tensor in global memory looks like.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/ptx/descriptor/swizzle.hpp"

namespace assay::ptx {

// A tiled tensor map in words. Dimensions run innermost first, as TMA counts them.
struct TensorMapShape {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  void* base = nullptr;                // global address of element 0, 16-byte aligned
  std::vector<std::uint64_t> extents;  // elements; 1 to 5 dimensions
  std::vector<std::uint64_t> strides;  // bytes between neighbours in dimension 1, 2, ...: one fewer
  std::vector<std::uint32_t> box;      // elements moved by one copy, at most 256 each
  Swizzle swizzle = Swizzle::bytes128;
  CUtensorMapL2promotion l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
};

// Why the hardware would refuse this shape, in one line; empty if it would not. Pure: needs no
// driver. Rules from the documentation of cuTensorMapEncodeTiled (CUDA driver API 13.0).
std::string explain_refusal(const TensorMapShape& shape);

// Encodes the map with the driver's cuTensorMapEncodeTiled. Elements outside the tensor read as
// zero. Throws Error(usage) with explain_refusal()'s line, Error(unfit) if the driver has no
// cuTensorMapEncodeTiled.
CUtensorMap encode_tensor_map(const TensorMapShape& shape);

// A row-major matrix of `rows` x `columns` 16-bit bf16 elements whose rows are `row_bytes` apart,
// moved in boxes of `box_rows` x `box_columns`.
CUtensorMap encode_bf16_matrix(const void* base, std::uint64_t rows, std::uint64_t columns,
                               std::uint64_t row_bytes, std::uint32_t box_rows,
                               std::uint32_t box_columns, Swizzle swizzle = Swizzle::bytes128);

}  // namespace assay::ptx

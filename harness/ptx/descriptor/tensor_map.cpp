// SPDX-License-Identifier: Apache-2.0
#include "harness/ptx/descriptor/tensor_map.hpp"

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "harness/ptx/descriptor/im2col_map.hpp"

namespace assay::ptx {
namespace {

std::uint32_t element_bytes(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return 4;
  }
}

std::uint32_t swizzle_width(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 0 : swizzle_period(swizzle) / 8;
}

CUtensorMapSwizzle driver_swizzle(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::bytes32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case Swizzle::bytes64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case Swizzle::bytes128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    case Swizzle::bytes128_atoms32:
      return CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    case Swizzle::none:
      break;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

// The driver's function of this name. Throws Error(unfit) if it has none.
template <class Function>
Function driver_encoder(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    throw Error(ExitCode::unfit,
                fmt::format("the CUDA driver has no {}, which TMA kernels need: install driver 525 "
                            "or newer",
                            name));
  }
  return reinterpret_cast<Function>(function);
}

}  // namespace

std::string explain_refusal(const TensorMapShape& shape) {
  const std::size_t rank = shape.extents.size();
  if (rank < 1 || rank > 5) return fmt::format("a tensor map has 1 to 5 dimensions, not {}", rank);
  if (shape.strides.size() != rank - 1 || shape.box.size() != rank) {
    return fmt::format("{} dimensions need {} strides and {} box extents", rank, rank - 1, rank);
  }
  if (reinterpret_cast<std::uintptr_t>(shape.base) % 16 != 0) {
    return fmt::format("the tensor starts at {}, which is not a multiple of 16 bytes", shape.base);
  }
  for (std::size_t i = 0; i < rank; ++i) {
    if (shape.extents[i] < 1 || shape.extents[i] > (std::uint64_t{1} << 32)) {
      return fmt::format("extent {} of dimension {} is not in 1 .. 2^32", shape.extents[i], i);
    }
    if (shape.box[i] < 1 || shape.box[i] > 256) {
      return fmt::format("box extent {} of dimension {} is not in 1 .. 256", shape.box[i], i);
    }
  }
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    if (shape.strides[i] % 16 != 0 || shape.strides[i] >= (std::uint64_t{1} << 40)) {
      return fmt::format("stride {} of dimension {} is not a multiple of 16 bytes below 2^40",
                         shape.strides[i], i + 1);
    }
  }
  const std::uint32_t inner = shape.box[0] * element_bytes(shape.type);
  if (inner % 16 != 0) {
    return fmt::format("rows of the box are {} bytes, which is not a multiple of 16", inner);
  }
  const std::uint32_t width = swizzle_width(shape.swizzle);
  if (width != 0 && inner > width) {
    return fmt::format("rows of the box are {} bytes, more than the {}-byte swizzle holds", inner,
                       width);
  }
  return {};
}

CUtensorMap encode_tensor_map(const TensorMapShape& shape) {
  if (const std::string reason = explain_refusal(shape); !reason.empty()) {
    throw Error(ExitCode::usage, "tensor map: " + reason);
  }
  static const auto encode =
      driver_encoder<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled");
  const std::vector<std::uint32_t> unit_steps(shape.extents.size(), 1);
  // One dimension has no stride, but the driver (of CUDA 13.0) refuses a null pointer to none.
  std::vector<std::uint64_t> strides = shape.strides;
  strides.resize(shape.extents.size());
  CUtensorMap map;
  const CUresult result =
      encode(&map, shape.type, static_cast<cuuint32_t>(shape.extents.size()), shape.base,
             shape.extents.data(), strides.data(), shape.box.data(), unit_steps.data(),
             CU_TENSOR_MAP_INTERLEAVE_NONE, driver_swizzle(shape.swizzle), shape.l2_promotion,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(ExitCode::failed,
                fmt::format("cuTensorMapEncodeTiled refused a map of extents {} and box {} with "
                            "CUresult {}",
                            fmt::join(shape.extents, "x"), fmt::join(shape.box, "x"),
                            static_cast<int>(result)));
  }
  return map;
}

CUtensorMap encode_bf16_matrix(const void* base, std::uint64_t rows, std::uint64_t columns,
                               std::uint64_t row_bytes, std::uint32_t box_rows,
                               std::uint32_t box_columns, Swizzle swizzle) {
  return encode_tensor_map({.base = const_cast<void*>(base),
                            .extents = {columns, rows},
                            .strides = {row_bytes},
                            .box = {box_columns, box_rows},
                            .swizzle = swizzle});
}

CUtensorMap encode_im2col_map(const Im2colShape& shape) {
  static const auto encode =
      driver_encoder<PFN_cuTensorMapEncodeIm2col_v12000>("cuTensorMapEncodeIm2col");
  const auto channels = static_cast<std::uint64_t>(shape.image_channels);
  const auto columns = static_cast<std::uint64_t>(shape.columns);
  const auto rows = static_cast<std::uint64_t>(shape.rows);
  const std::uint64_t extents[] = {channels, columns, rows,
                                   static_cast<std::uint64_t>(shape.images)};
  const std::uint64_t strides[] = {channels * 2, columns * channels * 2,
                                   rows * columns * channels * 2};
  const std::uint32_t unit_steps[] = {1, 1, 1, 1};
  // Columns, then rows: the first and, counted from the last pixel, the last place of the filter's
  // upper left tap.
  const int before = -(shape.taps / 2), after = shape.taps / 2 - (shape.taps - 1);
  const int lower[] = {before, before}, upper[] = {after, after};
  CUtensorMap map;
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, shape.base, extents, strides, lower, upper,
             static_cast<std::uint32_t>(shape.channels), static_cast<std::uint32_t>(shape.pixels),
             unit_steps, CU_TENSOR_MAP_INTERLEAVE_NONE, driver_swizzle(shape.swizzle),
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw Error(ExitCode::failed,
                fmt::format("cuTensorMapEncodeIm2col refused images of {} and columns of {} x {} "
                            "with CUresult {}",
                            fmt::join(extents, "x"), shape.pixels, shape.channels,
                            static_cast<int>(result)));
  return map;
}

}  // namespace assay::ptx

// SPDX-License-Identifier: Apache-2.0
#include "probes/tma/box_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#include "harness/error.hpp"

namespace assay {
namespace {

constexpr std::uint32_t kMostElements = 256;  // of a box, along each dimension

// Bytes of a box's rows.
std::uint32_t row_bytes(const BoxForm& form) {
  const ptx::Swizzle swizzle = box_swizzle(form.swizzle);
  const std::uint32_t most = swizzle == ptx::Swizzle::none
                                 ? kMostElements * box_element_bytes(form.type)
                                 : ptx::swizzle_period(swizzle) / 8;
  return std::min(form.box_bytes, most);
}

CUtensorMapDataType map_type(const std::string& type) {
  if (type == "u8") return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  if (type == "bf16") return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if (type == "f32") return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
}

CUtensorMapL2promotion promotion_of(int bytes) {
  switch (bytes) {
    case 64:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
    case 128:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case 256:
      return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
    default:
      return CU_TENSOR_MAP_L2_PROMOTION_NONE;
  }
}

}  // namespace

std::uint32_t box_element_bytes(const std::string& type) {
  if (type == "u8") return 1;
  if (type == "bf16") return 2;
  if (type == "f32") return 4;
  if (type == "f64") return 8;
  throw Error(ExitCode::usage, fmt::format("no boxes of '{}': u8, bf16, f32 or f64", type));
}

ptx::Swizzle box_swizzle(const std::string& name) {
  if (name == "none") return ptx::Swizzle::none;
  if (name == "32B") return ptx::Swizzle::bytes32;
  if (name == "64B") return ptx::Swizzle::bytes64;
  if (name == "128B") return ptx::Swizzle::bytes128;
  throw Error(ExitCode::usage, fmt::format("no swizzle '{}': none, 32B, 64B or 128B", name));
}

std::uint32_t box_pitch(const BoxForm& form) {
  const std::uint32_t unit = std::max(128u, ptx::swizzle_period(box_swizzle(form.swizzle)));
  return (form.box_bytes + unit - 1) / unit * unit;
}

std::string explain_no_box(const BoxForm& form) {
  if (form.dimensions < 1 || form.dimensions > kMaxDimensions)
    return fmt::format("a box has 1 to 5 dimensions, not {}", form.dimensions);
  if (!std::has_single_bit(form.box_bytes) || form.box_bytes < 16)
    return fmt::format("{} bytes are not a power of two of at least 16", form.box_bytes);
  const std::uint32_t rows = form.box_bytes / row_bytes(form);
  std::uint64_t most = 1;
  for (int d = 1; d < form.dimensions; ++d) most *= kMostElements;
  if (rows > most)
    return fmt::format("{} rows of {} bytes do not fit in a box of {} dimensions", rows,
                       row_bytes(form), form.dimensions);
  if (form.dimensions == 1 && form.boxes_across > 1) return "boxes of one dimension are contiguous";
  return {};
}

BoxPlan plan_boxes(const BoxForm& form, std::uint64_t array_bytes) {
  if (const std::string reason = explain_no_box(form); !reason.empty())
    throw Error(ExitCode::usage, "box: " + reason);
  BoxPlan plan{.shape = {.type = map_type(form.type),
                         .swizzle = box_swizzle(form.swizzle),
                         .l2_promotion = promotion_of(form.l2_promotion)},
               .grid = {},
               .tiles = static_cast<std::uint32_t>(array_bytes / form.box_bytes),
               .element_bytes = box_element_bytes(form.type)};
  plan.tiles -= plan.tiles % form.boxes_across;

  const std::uint32_t row = row_bytes(form);
  int left = std::countr_zero(form.box_bytes / row);  // rows, as a power of two still to spread
  plan.shape.box.push_back(row / plan.element_bytes);
  for (int d = 1; d < form.dimensions; ++d) {
    const int dimensions_left = form.dimensions - d;
    const int here = (left + dimensions_left - 1) / dimensions_left;
    plan.shape.box.push_back(1u << here);
    left -= here;
  }

  std::uint64_t stride = plan.element_bytes;  // bytes between neighbours
  int shift = 0;
  for (int d = 0; d < form.dimensions; ++d) {
    const bool last = d + 1 == form.dimensions;
    const std::uint32_t boxes = last ? plan.tiles >> shift : d == 0 ? form.boxes_across : 1;
    plan.grid.shift[d] = shift;
    plan.grid.mask[d] = last ? INT32_MAX : static_cast<int>(boxes - 1);
    plan.grid.box[d] = static_cast<int>(plan.shape.box[d]);
    plan.shape.extents.push_back(std::uint64_t{plan.shape.box[d]} * boxes);
    if (d > 0) plan.shape.strides.push_back(stride);
    stride *= plan.shape.extents.back();
    if (!last) shift += std::countr_zero(boxes);
  }
  return plan;
}

std::uint64_t BoxPlan::source_offset(std::uint32_t tile, std::uint32_t index) const {
  std::uint64_t offset = 0;
  for (std::size_t d = 0; d < shape.box.size(); ++d) {
    const std::uint64_t at =
        static_cast<std::uint64_t>(grid.coordinate(tile, static_cast<int>(d))) +
        index % shape.box[d];
    index /= shape.box[d];
    offset += at * (d == 0 ? element_bytes : shape.strides[d - 1]);
  }
  return offset;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// Which tensor maps the driver refuses: the rules that it was seen to apply (tensor_map.hpp).
#include <fmt/format.h>

#include "harness/model/copy/tensor_map.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

constexpr std::uint64_t kSharedBytes = 228 * 1024;  // of one SM: no box may be larger

template <class... Values>
void require(bool holds, const char* rule, fmt::format_string<Values...> text, Values&&... values) {
  if (!holds) throw Violation(rule, fmt::format(text, std::forward<Values>(values)...));
}

// The packed types and the atoms of sm_100a: documentation of cuTensorMapEncodeTiled.
void check_types(const TensorMap& map, MapTarget target) {
  const int type = static_cast<int>(map.type), swizzle = static_cast<int>(map.swizzle);
  const bool old = target == MapTarget::sm90;
  require(!old || map.type <= MapElement::tf32_ftz, "tensor_map.type",
          "sm_90 has no packed type {}: they came with sm_100a", type);
  require(!old || map.swizzle <= MapSwizzle::bytes128, "tensor_map.swizzle",
          "sm_90 has no swizzle {}: atoms other than 16 bytes came with sm_100a", swizzle);
  require(!map.fill_nan || is_float(map.type), "tensor_map.fill",
          "only floating-point types can be filled with NaN, not type {}", type);
  if (map.type == MapElement::u4x16)
    require(map.extents[0] % 2 == 0, "tensor_map.extent",
            "the innermost extent of a packed type is even, not {}", map.extents[0]);
  if (!is_padded(map.type)) return;
  require(map.extents[0] % 128 == 0, "tensor_map.extent",
          "the innermost extent of a padded type is a multiple of 128, not {}", map.extents[0]);
  const std::uint32_t inner = map.mode == MapMode::tiled ? map.box[0] : map.channels;
  require(inner == 128, "tensor_map.box_inner",
          "rows of a box of a padded type are 128 elements, not {}", inner);
  require(map.interleave == MapInterleave::none || map.type == MapElement::u4x16_padded,
          "tensor_map.interleave", "the 6-bit type has no interleave");
  const bool store_only = map.swizzle == MapSwizzle::bytes128_atoms64;
  require(map.swizzle == MapSwizzle::none || map.swizzle == MapSwizzle::bytes128 ||
              map.swizzle == MapSwizzle::bytes128_atoms32 ||
              (store_only && map.type == MapElement::u6x16_padded),
          "tensor_map.swizzle", "padded type {} has no swizzle {}", type, swizzle);
}

void check_tensor(const TensorMap& map) {
  const bool im2col = map.mode != MapMode::tiled;
  const int lowest = im2col || map.interleave != MapInterleave::none ? 3 : 1;
  require(map.rank >= lowest && map.rank <= 5, "tensor_map.rank",
          "a map with im2col or an interleave has 3 to 5 dimensions, others 1 to 5, not {}",
          map.rank);
  const bool wide = map.interleave == MapInterleave::bytes32 || is_padded(map.type);
  const std::uint64_t alignment = wide ? 32 : 16;
  require(map.address % alignment == 0 && map.address >> 57 == 0, "tensor_map.address",
          "the tensor starts at {:#x}, which is not a multiple of {} bytes below 2^57", map.address,
          alignment);
  for (int i = 0; i < map.rank; ++i) {
    const bool space = im2col && i > 0 && i < map.rank - 1;
    require(map.extents[i] >= 1 && map.extents[i] <= std::uint64_t{1} << 32, "tensor_map.extent",
            "extent {} of dimension {} is not in 1 .. 2^32", map.extents[i], i);
    require(!space || map.extents[i] < std::uint64_t{1} << 31, "tensor_map.extent",
            "extent {} of im2col's dimension {} is not below 2^31", map.extents[i], i);
    require(map.steps[i] >= 1 && map.steps[i] <= 8, "tensor_map.step",
            "element stride {} of dimension {} is not in 1 .. 8", map.steps[i], i);
    if (i == 0) continue;
    const std::uint64_t stride = map.strides[i - 1];
    require(stride % alignment == 0 && stride < std::uint64_t{1} << 40, "tensor_map.stride",
            "stride {} of dimension {} is not a multiple of {} bytes below 2^40", stride, i,
            alignment);
  }
}

// Rows of a box: whole 16 bytes, and within the swizzle's row. The driver lets rows of a tiled box
// with an interleave be anything.
void check_row(const TensorMap& map, std::uint32_t elements) {
  const std::uint32_t bytes = elements * shared_bits(map.type) / 8;
  const bool interleaved = map.interleave != MapInterleave::none;
  require((interleaved && map.mode == MapMode::tiled) || bytes % 16 == 0, "tensor_map.box_inner",
          "rows of the box are {} bytes, which is not a multiple of 16", bytes);
  if (interleaved || map.swizzle == MapSwizzle::none) return;
  const std::uint32_t width = map.swizzle == MapSwizzle::bytes32   ? 32
                              : map.swizzle == MapSwizzle::bytes64 ? 64
                                                                   : 128;
  require(bytes <= width, "tensor_map.box_inner",
          "rows of the box are {} bytes, more than the {}-byte swizzle holds", bytes, width);
}

void check_bytes(std::uint64_t bits) {
  require(bits / 8 <= kSharedBytes, "tensor_map.box_bytes",
          "the box is {} bytes, more than the {} of shared memory", bits / 8, kSharedBytes);
}

void check_tiled(const TensorMap& map) {
  std::uint64_t bits = shared_bits(map.type);
  for (int i = 0; i < map.rank; ++i) {
    require(map.box[i] >= 1 && map.box[i] <= 256, "tensor_map.box",
            "box extent {} of dimension {} is not in 1 .. 256", map.box[i], i);
    bits *= map.box[i] / map.steps[i];
  }
  check_row(map, map.box[0]);
  check_bytes(bits);
}

void check_im2col(const TensorMap& map) {
  require(map.channels >= 1 && map.channels <= 256, "tensor_map.channels",
          "{} channels of a pixel are not in 1 .. 256", map.channels);
  require(map.pixels >= 1 && map.pixels <= 1024, "tensor_map.pixels",
          "{} pixels of a column are not in 1 .. 1024", map.pixels);
  check_row(map, map.channels);
  check_bytes(std::uint64_t{shared_bits(map.type)} * map.channels * map.pixels);
  const int corners = map.mode == MapMode::im2col ? map.rank - 2 : 1;
  const std::int32_t limit = map.rank == 3 ? 1 << 15 : map.rank == 4 ? 1 << 7 : 1 << 4;
  for (int i = 0; i < corners; ++i) {
    for (const std::int32_t corner : {map.lower[i], map.upper[i]})
      require(corner >= -limit && corner < limit, "tensor_map.corner",
              "corner {} of the pixels' box is not in {} .. {}", corner, -limit, limit - 1);
    // With an interleave the driver compares with the extent of the dimension before.
    const int dimension = map.interleave == MapInterleave::none ? i + 1 : i;
    const auto extent = static_cast<std::int64_t>(map.extents[dimension]);
    require(extent + map.upper[i] - map.lower[i] > 0, "tensor_map.corner",
            "no pixel lies between the corners {} and {} of an extent of {}", map.lower[i],
            map.upper[i], extent);
  }
}

}  // namespace

void check(const TensorMap& map, MapTarget target) {
  check_tensor(map);
  check_types(map, target);
  if (map.mode == MapMode::tiled) {
    check_tiled(map);
  } else {
    check_im2col(map);
  }
}

}  // namespace assay::model

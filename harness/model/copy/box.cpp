// SPDX-License-Identifier: Apache-2.0
#include "harness/model/copy/box.hpp"

#include <fmt/format.h>

#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

template <class... Values>
void require(bool holds, const char* rule, fmt::format_string<Values...> text, Values&&... values) {
  if (!holds) throw Violation(rule, fmt::format(text, std::forward<Values>(values)...));
}

bool is_wide(CopyMode mode) { return mode == CopyMode::im2col_w || mode == CopyMode::im2col_w_128; }
bool is_im2col(CopyMode mode) { return mode == CopyMode::im2col || is_wide(mode); }
bool names_rows(CopyMode mode) { return mode == CopyMode::gather4 || mode == CopyMode::scatter4; }

std::uint32_t slice_bytes(MapInterleave interleave) {
  return interleave == MapInterleave::bytes32 ? 32 : 16;
}

std::uint32_t swizzle_width(MapSwizzle swizzle) {
  return swizzle == MapSwizzle::none      ? 0
         : swizzle == MapSwizzle::bytes32 ? 32
         : swizzle == MapSwizzle::bytes64 ? 64
                                          : 128;
}

std::int64_t steps(const TensorCopy& copy, std::uint32_t box, std::uint32_t step) {
  return copy.steps_round_down ? box / step : (box + step - 1) / step;
}

// 5.5.3.4 "tile::scatter4 and tile::gather4 modes".
void check_named_rows(const TensorMap& map, const TensorCopy& copy) {
  require(map.rank == 2, "tensor_copy.dimensions",
          "gather4 and scatter4 need a map of 2 dimensions, not {}", map.rank);
  require(map.box[1] == 1, "tensor_copy.box",
          "gather4 and scatter4 need a map whose box is one row, not {}", map.box[1]);
  require(map.interleave == MapInterleave::none, "tensor_copy.interleave",
          "gather4 and scatter4 know no interleave");
  const bool load = copy.direction == CopyDirection::load;
  require(load == (copy.mode == CopyMode::gather4), "tensor_copy.mode",
          "gather4 only loads and scatter4 only stores");
}

// 5.5.4 "im2col mode" and 5.5.5 "im2col::w and im2col::w::128 modes".
void check_im2col(const TensorMap& map, const TensorCopy& copy) {
  require(map.interleave == MapInterleave::none, "tensor_copy.interleave",
          "how im2col lays out the slices of an interleaved map is unspecified");
  if (is_wide(copy.mode)) {
    require(copy.direction == CopyDirection::load, "tensor_copy.mode", "im2col::w only loads");
    require(map.swizzle != MapSwizzle::none && map.swizzle != MapSwizzle::bytes128_atoms32_flip8,
            "tensor_copy.swizzle", "im2col::w needs a swizzle, and none with 8-byte flips");
    const int halo = copy.mode == CopyMode::im2col_w ? 512 : 32;
    require(copy.offsets[0] < halo && copy.offsets[1] < 32, "tensor_copy.offset",
            "a halo of {} and an offset of {} are not below {} and 32", copy.offsets[0],
            copy.offsets[1], halo);
    const std::int64_t last =
        static_cast<std::int64_t>(map.extents[1]) - 1 + map.upper[0] + copy.offsets[1];
    const std::int64_t column = copy.coordinates[1] + copy.offsets[1];
    require(column <= last, "tensor_copy.base",
            "im2col::w starts at column {}, right of the box's last, {}", column, last);
    return;
  }
  const int limit = map.rank == 3 ? 1 << 16 : map.rank == 4 ? 1 << 8 : 1 << 5;
  const bool store = copy.direction == CopyDirection::store;
  for (int i = 0; i < map.rank - 2; ++i) {
    const std::int64_t last = static_cast<std::int64_t>(map.extents[i + 1]) - 1 + map.upper[i];
    require(copy.offsets[i] < (store ? 1 : limit), "tensor_copy.offset",
            "im2col's offset {} of dimension {} is not below {}", copy.offsets[i], i + 1,
            store ? 1 : limit);
    require(copy.coordinates[i + 1] >= map.lower[i] && copy.coordinates[i + 1] <= last,
            "tensor_copy.base", "im2col starts at {} of dimension {}, outside its box, {} .. {}",
            copy.coordinates[i + 1], i + 1, map.lower[i], last);
    require(!store || (map.lower[i] >= 0 && map.upper[i] <= 0), "tensor_copy.corner",
            "a store needs corners of the box within the tensor, not {} and {}", map.lower[i],
            map.upper[i]);
  }
}

// 9.7.9.25.5.1 "Restriction on Tensor Copy instructions".
void check_types(const TensorMap& map, const TensorCopy& copy) {
  const bool store = copy.direction == CopyDirection::store;
  require(!store || map.type != MapElement::u4x16_padded, "tensor_copy.type",
          "the padded 4-bit type can be loaded only");
  require(!store || map.swizzle != MapSwizzle::bytes128_atoms32_flip8, "tensor_copy.swizzle",
          "a swizzle with 8-byte flips can be loaded only");
  require(store || !is_padded(map.type) || map.swizzle != MapSwizzle::bytes128_atoms64,
          "tensor_copy.swizzle", "atoms of 64 bytes can only be stored of the 6-bit type");
  require(!is_padded(map.type) || copy.coordinates[0] % 128 == 0, "tensor_copy.coordinate",
          "the first coordinate of a padded type is a multiple of 128, not {}",
          copy.coordinates[0]);
  require(map.type != MapElement::u4x16 || copy.coordinates[0] % 2 == 0, "tensor_copy.coordinate",
          "what an odd first coordinate, {}, of a 4-bit type does is unspecified",
          copy.coordinates[0]);
  const int coordinates = names_rows(copy.mode) ? 5 : map.rank;
  for (int i = 0; i < coordinates; ++i)
    require(!store || copy.coordinates[i] >= 0, "tensor_copy.coordinate",
            "a store starts at a negative coordinate, {}", copy.coordinates[i]);
}

}  // namespace

void check(const TensorMap& map, const TensorCopy& copy) {
  check(map, MapTarget::sm100);
  require((map.mode == MapMode::tiled) != is_im2col(copy.mode), "tensor_copy.mode",
          "a copy with im2col needs an im2col map, any other a tiled one");
  require(copy.dimensions == map.rank, "tensor_copy.dimensions",
          "the copy has {} dimensions, the map {}", copy.dimensions, map.rank);
  // The CUDA programming guide's table of alignments; 5.5.7 counts the swizzle's base in 128 bytes.
  require(copy.shared % 128 == 0, "tensor_copy.shared_address",
          "shared address {:#x} is not a multiple of 128 bytes", copy.shared);
  require(map.interleave != MapInterleave::bytes32 || map.swizzle == MapSwizzle::bytes32,
          "tensor_copy.swizzle", "an interleave of 32 bytes needs the 32-byte swizzle");
  if (names_rows(copy.mode)) check_named_rows(map, copy);
  if (is_im2col(copy.mode)) check_im2col(map, copy);
  check_types(map, copy);
}

BoxPlan plan(const TensorMap& map, const TensorCopy& copy) {
  BoxPlan p{};
  const bool interleaved = map.interleave != MapInterleave::none;
  const std::uint32_t width = swizzle_width(map.swizzle);
  p.bits_global = interleaved ? 8 : global_bits(map.type);
  p.bits_shared = interleaved ? 8 : shared_bits(map.type);
  p.first = interleaved ? 0 : copy.coordinates[0];
  p.count = interleaved                  ? slice_bytes(map.interleave)
            : map.mode == MapMode::tiled ? map.box[0]
                                         : map.channels;
  p.extent = interleaved ? p.count : static_cast<std::int64_t>(map.extents[0]);
  p.pitch = static_cast<std::uint32_t>(p.count * p.bits_shared / 8);
  if (!interleaved && !copy.rows_packed) p.pitch = std::max(p.pitch, width);
  if (copy.mode != CopyMode::tile) return p;
  for (int i = interleaved ? 0 : 1; i < map.rank; ++i) {
    p.loop[p.loops++] = {.first = copy.coordinates[i],
                         .step = map.steps[i],
                         .count = steps(copy, map.box[i], map.steps[i]),
                         .extent = static_cast<std::int64_t>(map.extents[i]),
                         .stride = i == 0 ? slice_bytes(map.interleave) : map.strides[i - 1]};
  }
  return p;
}

PixelWalk pixel_walk(const TensorMap& map, const TensorCopy& copy) {
  PixelWalk walk{.map = &map, .dimensions = 1, .at = {}, .first = {}, .last = {}, .offset = {}};
  for (int i = 0; i < map.rank - 1; ++i) walk.at[i] = copy.coordinates[i + 1];
  if (is_wide(copy.mode)) {
    const std::int64_t moved = copy.offsets[1];
    walk.at[0] += moved;
    walk.first[0] = map.lower[0] + moved;
    walk.last[0] = static_cast<std::int64_t>(map.extents[1]) - 1 + map.upper[0] + moved;
    return walk;
  }
  walk.dimensions = map.rank - 2;
  for (int i = 0; i < map.rank - 2; ++i) {
    walk.first[i] = map.lower[i];
    walk.last[i] = static_cast<std::int64_t>(map.extents[i + 1]) - 1 + map.upper[i];
    walk.offset[i] = copy.offsets[i];
  }
  return walk;
}

std::uint32_t transaction_bytes(const TensorMap& map, const TensorCopy& copy) {
  const BoxPlan p = plan(map, copy);
  std::int64_t rows = 1;
  for (int i = 0; i < p.loops; ++i) rows *= p.loop[i].count;
  if (names_rows(copy.mode)) rows = 4;
  if (is_im2col(copy.mode)) rows = map.pixels;
  if (copy.mode == CopyMode::im2col_w) rows += copy.offsets[0];
  if (copy.mode == CopyMode::im2col_w_128) rows = 4 * (32 + copy.offsets[0]);
  return static_cast<std::uint32_t>(rows * p.count * p.bits_global / 8);
}

std::uint64_t fill_bits(const TensorMap& map) {
  if (!map.fill_nan) return 0;
  return 0x7ff77ff77ff77ff7 >> (64 - global_bits(map.type));
}

}  // namespace assay::model

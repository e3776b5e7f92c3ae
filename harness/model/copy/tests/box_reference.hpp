// SPDX-License-Identifier: Apache-2.0
// A slow reference of box.hpp, element by element, from the words of PTX ISA 9.0, 5.5 "Tensors".
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "harness/model/copy/box.hpp"

namespace assay::model {

inline constexpr std::uint64_t kOutside = ~0ull, kGap = ~1ull;
using Bytes = std::map<std::uint32_t, std::uint64_t>;  // shared address -> global address

inline Bytes moved(const TensorMap& map, const TensorCopy& copy) {
  Bytes bytes;
  for_each_piece(map, copy, [&](const Piece& piece) {
    EXPECT_GT(piece.bytes, 0u);
    EXPECT_TRUE(map.swizzle == MapSwizzle::none || piece.bytes <= 16);
    for (std::uint32_t i = 0; i < piece.bytes; ++i) {
      const std::uint64_t from = piece.kind == PieceKind::copy  ? piece.global + i
                                 : piece.kind == PieceKind::gap ? kGap
                                                                : kOutside;
      EXPECT_TRUE(bytes.emplace(piece.shared + i, from).second) << "a byte is moved twice";
    }
  });
  return bytes;
}

// 5.5.7 "Swizzling Modes": which 16-byte chunk of a line of 128 bytes lies at each place of the
// line, line after line, as the manual's tables have it.
inline std::vector<std::vector<int>> table(MapSwizzle swizzle) {
  switch (swizzle) {
    case MapSwizzle::bytes32:
      return {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}};
    case MapSwizzle::bytes64:
      return {{0, 1, 2, 3, 4, 5, 6, 7},
              {1, 0, 3, 2, 5, 4, 7, 6},
              {2, 3, 0, 1, 6, 7, 4, 5},
              {3, 2, 1, 0, 7, 6, 5, 4}};
    case MapSwizzle::bytes128:
      return {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5},
              {3, 2, 1, 0, 7, 6, 5, 4}, {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
              {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
    case MapSwizzle::bytes128_atoms32:
    case MapSwizzle::bytes128_atoms32_flip8:
      return {{0, 1, 2, 3, 4, 5, 6, 7},
              {2, 3, 0, 1, 6, 7, 4, 5},
              {4, 5, 6, 7, 0, 1, 2, 3},
              {6, 7, 4, 5, 2, 3, 0, 1}};
    case MapSwizzle::bytes128_atoms64:
      return {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}};
    default:
      return {{0, 1, 2, 3, 4, 5, 6, 7}};
  }
}

inline std::uint32_t place(MapSwizzle swizzle, std::uint32_t address) {
  const auto lines = table(swizzle);
  const auto& line = lines[address / 128 % lines.size()];
  int at = 0;
  while (line[static_cast<std::size_t>(at)] != static_cast<int>(address / 16 % 8)) ++at;
  std::uint32_t within = address % 16;
  if (swizzle == MapSwizzle::bytes128_atoms32_flip8 && address / 128 % 2 == 1) within ^= 8;
  return address / 128 * 128 + static_cast<std::uint32_t>(at) * 16 + within;
}

// The bytes of the reference: each row's elements one by one. `element` gives the coordinates of a
// row without dimension 0, in order.
using Coordinates = std::vector<std::int64_t>;
inline Bytes reference(const TensorMap& map, const TensorCopy& copy,
                       const std::vector<Coordinates>& rows, std::uint32_t elements) {
  Bytes bytes;
  const std::uint32_t global = global_bits(map.type), shared = shared_bits(map.type);
  const std::uint32_t widths[] = {0, 32, 64, 128, 128, 128, 128};
  const std::uint32_t pitch =
      std::max(elements * shared / 8, widths[static_cast<int>(map.swizzle)]);
  std::uint32_t line = copy.shared;
  for (const Coordinates& row : rows) {
    for (std::uint32_t bit = 0; bit < elements * shared; bit += 8) {
      std::uint32_t at = bit / 8;
      std::int64_t element = copy.coordinates[0] + bit / shared;
      std::int64_t source = static_cast<std::int64_t>(map.address);
      bool gap = false;
      if (is_padded(map.type)) {  // 5.5.1.1.1: 16 elements, then the padding
        gap = at % 16 >= 2 * global;
        element = copy.coordinates[0] + at / 16 * 16;
        source +=
            copy.coordinates[0] * static_cast<int>(global) / 8 + at / 16 * 2 * global + at % 16;
      } else {
        source += copy.coordinates[0] * static_cast<int>(global) / 8 + at;
      }
      bool inside = element >= 0 && element < static_cast<std::int64_t>(map.extents[0]);
      for (std::size_t i = 0; i < row.size(); ++i) {
        inside &= row[i] >= 0 && row[i] < static_cast<std::int64_t>(map.extents[i + 1]);
        source += row[i] * static_cast<std::int64_t>(map.strides[i]);
      }
      bytes[place(map.swizzle, line + at)] = !inside ? kOutside
                                             : gap   ? kGap
                                                     : static_cast<std::uint64_t>(source);
    }
    line += pitch;
  }
  return bytes;
}

// 5.5.3: the box from the coordinates on, every element stride-th element of it.
inline std::vector<Coordinates> tile_rows(const TensorMap& map, const TensorCopy& copy) {
  std::vector<Coordinates> rows{{}};
  for (int i = map.rank - 1; i >= 1; --i) {
    std::vector<Coordinates> longer;
    for (const Coordinates& outer : rows) {
      for (std::uint32_t at = 0; at < map.box[i]; at += map.steps[i]) {
        Coordinates row{copy.coordinates[i] + std::int64_t{at}};
        row.insert(row.end(), outer.begin(), outer.end());
        longer.push_back(row);
      }
    }
    rows = longer;
  }
  return rows;
}

// 5.5.4: from the base on along columns, rows, depths within the corners, then the next image; the
// offsets displace what is read, not the walk.
inline std::vector<Coordinates> pixels(const TensorMap& map, const TensorCopy& copy, int dimensions,
                                       std::int64_t moved, std::size_t count) {
  std::vector<Coordinates> all;
  const int space = map.rank - 2;
  std::int64_t low[3] = {}, high[3] = {}, start[3] = {}, step[3] = {1, 1, 1};
  for (int i = 0; i < space; ++i) {
    start[i] = copy.coordinates[i + 1];
    low[i] = i < dimensions ? map.lower[i] + moved : start[i];
    high[i] = i < dimensions
                  ? static_cast<std::int64_t>(map.extents[i + 1]) - 1 + map.upper[i] + moved
                  : start[i];
    if (i < dimensions) step[i] = map.steps[i + 1];
  }
  start[0] += moved;
  for (std::int64_t image = copy.coordinates[map.rank - 1];; ++image) {
    for (std::int64_t d = start[2]; d <= high[2]; d += step[2], start[1] = low[1]) {
      for (std::int64_t h = start[1]; h <= high[1]; h += step[1], start[0] = low[0]) {
        for (std::int64_t w = start[0]; w <= high[0]; w += step[0]) {
          const std::int64_t at[3] = {w, h, d};
          Coordinates row(at, at + space);
          row.push_back(image);
          all.push_back(row);
          if (all.size() == count) return all;
        }
      }
    }
    start[0] = low[0], start[1] = low[1], start[2] = low[2];
  }
}

}  // namespace assay::model

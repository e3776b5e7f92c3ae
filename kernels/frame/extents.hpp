// SPDX-License-Identifier: Apache-2.0
// What sizes of a product every kernel can count with, whatever its tiles are: as int, an extent
// and what a tile's end is beyond it, and how many tiles D has. More fits no GPU's memory.
#pragma once
#include <cstdint>
#include <limits>

namespace assay::kernels {

inline constexpr std::int64_t kMostExtent = std::numeric_limits<int>::max() - 1024;
// Tiles of 64 x 16 and more make fewer than 2^31.
inline constexpr std::int64_t kMostResults = std::int64_t{1} << 40;

inline constexpr const char* kExtentsRule =
    "sizes must be at most 2^31 - 1025, and D of at most 2^40 values";

constexpr bool fits_extents(std::int64_t m, std::int64_t n, std::int64_t k) {
  return m <= kMostExtent && n <= kMostExtent && k <= kMostExtent && m * n <= kMostResults;
}

}  // namespace assay::kernels

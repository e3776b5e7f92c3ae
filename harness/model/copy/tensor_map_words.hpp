// SPDX-License-Identifier: Apache-2.0
// The fields of a tensor map as bits of its sixteen words. tensor_map.hpp draws them and says where
// they are from.
#pragma once
#include <array>
#include <cstdint>

namespace assay::model {

using MapWords = std::array<std::uint64_t, 16>;

struct MapBits {
  int word, first, count;
};

inline constexpr MapBits kAddress{0, 0, 64}, kIsIm2col{1, 0, 1}, kRank{1, 4, 3}, kType{1, 7, 4},
    kInterleave{1, 11, 2}, kSwizzleMode{1, 13, 2}, kFillNan{1, 15, 1}, kRoundToTf32{1, 16, 1},
    kL2Promotion{1, 17, 2}, kSwizzleAtom{1, 19, 3}, kSwizzle96{1, 22, 1}, kPixels{7, 32, 10},
    kBoxBytes{8, 0, 64}, kAlignment{9, 0, 64};

constexpr MapBits extent_bits(int dimension) { return {4 + dimension / 2, dimension % 2 * 32, 32}; }
constexpr MapBits step_bits(int dimension) { return {6, 32 + dimension * 3, 3}; }
constexpr MapBits box_bits(int dimension) {
  if (dimension == 0) return {6, 56, 8};
  return {7, (dimension - 1) * 8, 8};
}

constexpr std::uint64_t field_mask(MapBits bits) {
  return bits.count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits.count) - 1;
}
constexpr std::uint64_t get_bits(const MapWords& words, MapBits bits) {
  return words[static_cast<std::size_t>(bits.word)] >> bits.first & field_mask(bits);
}
constexpr void set_bits(MapWords& words, MapBits bits, std::uint64_t value) {
  std::uint64_t& word = words[static_cast<std::size_t>(bits.word)];
  word = (word & ~(field_mask(bits) << bits.first)) | (value & field_mask(bits)) << bits.first;
}

// A stride in units of 16 bytes: 32 bits at one place, 4 more at another. `index` 0 is that of
// dimension 1.
constexpr MapBits stride_low(int index) { return {1 + (index + 1) / 2, (index + 1) % 2 * 32, 32}; }
constexpr MapBits stride_high(int index) { return {3, 32 + index * 4, 4}; }
constexpr std::uint64_t get_stride(const MapWords& words, int index) {
  return (get_bits(words, stride_low(index)) | get_bits(words, stride_high(index)) << 32) << 4;
}
constexpr void put_stride(MapWords& words, int index, std::uint64_t bytes) {
  set_bits(words, stride_low(index), bytes >> 4);
  set_bits(words, stride_high(index), bytes >> 36);
}

}  // namespace assay::model

// SPDX-License-Identifier: Apache-2.0
#include "harness/model/copy/tensor_map.hpp"

#include <bit>
#include <cstring>

#include "harness/model/copy/tensor_map_words.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

constexpr std::uint64_t kRound = 1 << 4;  // to tf32: beside the four bits of the type's code

// Bits 7-10 of word 1 by the driver's number of the type; kRound for bit 16.
constexpr std::uint8_t kCodes[] = {0, 1,  2, 3,          4,          5,  6,  7,
                                   9, 10, 8, 7 | kRound, 8 | kRound, 11, 12, 13};

// The bits of swizzle mode and of its atom by the driver's number of the swizzle.
struct SwizzleCode {
  std::uint8_t mode, atom;
};
constexpr SwizzleCode kSwizzles[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 1}, {3, 2}, {3, 3}};

// Corners of im2col: so many bits each for 1, 2 or 3 dimensions.
int corner_bits(int rank) { return rank == 3 ? 16 : rank == 4 ? 8 : 5; }

std::int32_t sign_extend(std::uint64_t value, int bits) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << (32 - bits)) >> (32 - bits);
}

[[noreturn]] void refuse_bytes(const char* what) {
  throw Violation("tensor_map.bytes",
                  std::string("the 128 bytes are no tensor map that a driver writes: ") + what);
}

MapElement element_of(std::uint64_t code) {
  for (std::size_t i = 0; i < std::size(kCodes); ++i)
    if (kCodes[i] == code) return static_cast<MapElement>(i);
  refuse_bytes("the code of the type is none of the known ones");
}

MapSwizzle swizzle_of(std::uint64_t mode, std::uint64_t atom) {
  for (std::size_t i = 0; i < std::size(kSwizzles); ++i)
    if (kSwizzles[i].mode == mode && kSwizzles[i].atom == atom) return static_cast<MapSwizzle>(i);
  refuse_bytes("the swizzle has atoms that only the 128-byte swizzle has");
}

}  // namespace

TensorMapBytes encode(const TensorMap& map, MapTarget target) {
  check(map, target);
  MapWords words{};
  const auto put = [&](MapBits bits, std::uint64_t value) { set_bits(words, bits, value); };
  const std::uint64_t code = kCodes[static_cast<int>(map.type)];
  const SwizzleCode swizzle = kSwizzles[static_cast<int>(map.swizzle)];
  put(kAddress, map.address);
  put(kIsIm2col, map.mode != MapMode::tiled);
  put(kRank, static_cast<std::uint64_t>(map.rank - 1));
  put(kType, code);
  put(kRoundToTf32, code >> 4);
  put(kInterleave, static_cast<std::uint64_t>(map.interleave));
  put(kSwizzleMode, swizzle.mode);
  put(kSwizzleAtom, swizzle.atom);
  put(kFillNan, map.fill_nan);
  put(kL2Promotion, map.l2_promotion);
  for (int i = 0; i < map.rank; ++i) {
    put(extent_bits(i), map.extents[i] - 1);
    put(step_bits(i), map.steps[i] - 1);
    if (i > 0) put_stride(words, i - 1, map.strides[i - 1]);
  }
  std::uint64_t bits = shared_bits(map.type);
  if (map.mode == MapMode::tiled) {
    for (int i = 0; i < map.rank; ++i) {
      put(box_bits(i), map.box[i] - 1);
      bits *= map.box[i] / map.steps[i];
    }
  } else {
    put(box_bits(0), map.channels - 1);
    put(kPixels, map.pixels - 1);
    const int width = corner_bits(map.rank);
    const int corners = map.mode == MapMode::im2col ? map.rank - 2 : 1;
    for (int i = 0; i < corners; ++i) {
      put({7, i * width, width}, static_cast<std::uint32_t>(map.lower[i]));
      put({7, 16 + i * width, width}, static_cast<std::uint32_t>(map.upper[i]));
    }
    bits *= std::uint64_t{map.channels} * map.pixels;
  }
  put(kBoxBytes, bits / 8);
  constexpr std::uint64_t kAlignments[] = {16, 256, 512, 1024};
  put(kAlignment, kAlignments[swizzle.mode]);
  return std::bit_cast<TensorMapBytes>(words);
}

TensorMap decode(std::span<const std::byte, kTensorMapBytes> bytes) {
  MapWords words;
  std::memcpy(words.data(), bytes.data(), kTensorMapBytes);
  const auto get = [&](MapBits bits) { return get_bits(words, bits); };
  TensorMap map;
  if (get(kRank) > 4) refuse_bytes("it has more than 5 dimensions");
  if (get(kInterleave) > 2) refuse_bytes("the interleave is none of the known ones");
  if (get(kSwizzle96) != 0) refuse_bytes("the swizzle of 96 bytes of sm_103a is not modelled");
  if (get({1, 1, 3}) != 0 || get({1, 23, 9}) != 0 || get({3, 48, 16}) != 0)
    refuse_bytes("bits are set that no field has");
  map.mode = get(kIsIm2col) != 0 ? MapMode::im2col : MapMode::tiled;
  map.rank = static_cast<int>(get(kRank)) + 1;
  if (map.mode == MapMode::im2col && map.rank < 3) refuse_bytes("im2col needs 3 dimensions");
  map.type = element_of(get(kType) | get(kRoundToTf32) << 4);
  map.address = get(kAddress);
  map.interleave = static_cast<MapInterleave>(get(kInterleave));
  map.swizzle = swizzle_of(get(kSwizzleMode), get(kSwizzleAtom));
  map.fill_nan = get(kFillNan) != 0;
  map.l2_promotion = static_cast<std::uint8_t>(get(kL2Promotion));
  for (int i = 0; i < map.rank; ++i) {
    map.extents[i] = get(extent_bits(i)) + 1;
    map.steps[i] = static_cast<std::uint32_t>(get(step_bits(i))) + 1;
    if (i > 0) map.strides[i - 1] = get_stride(words, i - 1);
    if (map.mode == MapMode::tiled) map.box[i] = static_cast<std::uint32_t>(get(box_bits(i))) + 1;
  }
  if (map.mode == MapMode::im2col) {
    map.channels = static_cast<std::uint32_t>(get(box_bits(0))) + 1;
    map.pixels = static_cast<std::uint32_t>(get(kPixels)) + 1;
    const int width = corner_bits(map.rank);
    for (int i = 0; i < map.rank - 2; ++i) {
      map.lower[i] = sign_extend(get({7, i * width, width}), width);
      map.upper[i] = sign_extend(get({7, 16 + i * width, width}), width);
    }
  }
  return map;
}

void replace(std::span<std::byte, kTensorMapBytes> bytes, MapField field, int ordinal,
             std::uint64_t value) {
  MapWords words;
  std::memcpy(words.data(), bytes.data(), kTensorMapBytes);
  const auto require = [](bool holds, const char* text) {
    if (!holds) throw Violation("tensormap.replace", text);
  };
  const auto put = [&](MapBits bits, std::uint64_t v) { set_bits(words, bits, v); };
  const int ordinals = field == MapField::global_stride ? 4 : 5;
  require(ordinal >= 0 && ordinal < ordinals,
          "tensormap.replace names a dimension beyond the map's");
  switch (field) {
    case MapField::global_address:
      require(value % 16 == 0, "tensormap.replace.global_address needs a multiple of 16 bytes");
      put(kAddress, value);
      break;
    case MapField::rank:
      require(value <= 4, "tensormap.replace.rank takes the rank less 1, 0 to 4");
      put(kRank, value);
      break;
    case MapField::box_dim:
      require(value >= 1 && value <= 256, "tensormap.replace.box_dim takes 1 to 256 elements");
      put(box_bits(ordinal), value - 1);
      break;
    case MapField::global_dim:
      put(extent_bits(ordinal), (value - 1) & 0xffffffff);  // 0 stands for 2^32
      break;
    case MapField::global_stride:
      require(value % 16 == 0 && value < std::uint64_t{1} << 40,
              "tensormap.replace.global_stride takes a multiple of 16 bytes below 2^40");
      put_stride(words, ordinal, value);
      break;
    case MapField::element_stride:
      require(value >= 1 && value <= 8, "tensormap.replace.element_stride takes 1 to 8");
      put(step_bits(ordinal), value - 1);
      break;
    case MapField::elemtype:
      require(value <= 15, "tensormap.replace.elemtype takes 0 to 15");
      // 0 to 10 are the codes themselves, and leave the bit that rounds as it is.
      put(kType, value <= 10 ? value : value <= 12 ? value - 4 : value - 2);
      if (value == 11 || value == 12) put(kRoundToTf32, 1);
      break;
    case MapField::interleave_layout:
      require(value <= 2, "tensormap.replace.interleave_layout takes 0 to 2");
      put(kInterleave, value);
      break;
    case MapField::swizzle_mode:
      require(value <= 4, "tensormap.replace.swizzle_mode takes 0 to 4");
      put(kSwizzleMode, value & 3);
      put(kSwizzle96, value >> 2);
      break;
    case MapField::fill_mode:
      require(value <= 1, "tensormap.replace.fill_mode takes 0 or 1");
      put(kFillNan, value);
      break;
    case MapField::swizzle_atomicity:
      require(value <= 3, "tensormap.replace.swizzle_atomicity takes 0 to 3");
      put(kSwizzleAtom, value);
      break;
  }
  std::memcpy(bytes.data(), words.data(), kTensorMapBytes);
}

}  // namespace assay::model

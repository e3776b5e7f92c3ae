// SPDX-License-Identifier: Apache-2.0
#include "harness/model/copy/tensor_map.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "harness/model/copy/tensor_map_words.hpp"
#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

// A row of tensor_maps.txt, whose head says what the columns are.
struct Call {
  TensorMap map;
  std::optional<MapWords> words;
};

std::vector<std::int64_t> numbers(const std::string& text, int base = 10) {
  std::vector<std::int64_t> values;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');)
    values.push_back(std::stoll(part, nullptr, base));
  return values;
}

Call parse(const std::string& line) {
  Call call;
  TensorMap& map = call.map;
  std::istringstream in(line);
  std::string kind, extents, strides, steps, box, word;
  int type, interleave, swizzle, promotion, fill;
  in >> kind >> type >> interleave >> swizzle >> promotion >> fill;
  in >> std::hex >> map.address >> std::dec >> map.rank >> extents >> strides >> steps >> box;
  map.mode = kind == "t" ? MapMode::tiled : kind == "i" ? MapMode::im2col : MapMode::im2col_wide;
  map.type = static_cast<MapElement>(type);
  map.interleave = static_cast<MapInterleave>(interleave);
  map.swizzle = static_cast<MapSwizzle>(swizzle);
  map.l2_promotion = static_cast<std::uint8_t>(promotion);
  map.fill_nan = fill != 0;
  std::ranges::copy(numbers(extents), map.extents.begin());
  if (strides != "-") std::ranges::copy(numbers(strides, 16), map.strides.begin());
  std::ranges::copy(numbers(steps), map.steps.begin());
  if (map.mode == MapMode::tiled) {
    std::ranges::copy(numbers(box), map.box.begin());
  } else {
    std::istringstream parts(box);
    std::string lower, upper;
    char colon;
    std::getline(parts, lower, ':');
    std::getline(parts, upper, ':');
    parts >> map.channels >> colon >> map.pixels;
    std::ranges::copy(numbers(lower), map.lower.begin());
    std::ranges::copy(numbers(upper), map.upper.begin());
  }
  in >> word;
  if (word == "refused") return call;
  call.words = MapWords{std::stoull(word, nullptr, 16)};
  for (int i = 1; in >> word; ++i)
    (*call.words)[static_cast<std::size_t>(i)] = std::stoull(word, nullptr, 16);
  return call;
}

// What the bytes can tell: not im2col::w, whose corners are of one dimension.
TensorMap told(TensorMap map) {
  if (map.mode != MapMode::im2col_wide) return map;
  map.mode = MapMode::im2col;
  for (int i = 1; i < 3; ++i) map.lower[i] = map.upper[i] = 0;
  return map;
}

TEST(ModelTensorMap, IsWhatTheDriverWrites) {
  std::ifstream file(ASSAY_SOURCE_DIR "/harness/model/copy/tests/tensor_maps.txt");
  int accepted = 0, refused = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const Call call = parse(line);
    if (!call.words) {
      EXPECT_THROW(encode(call.map), Violation) << line;
      ++refused;
      continue;
    }
    ++accepted;
    try {
      EXPECT_EQ(std::bit_cast<MapWords>(encode(call.map)), *call.words) << line;
    } catch (const Violation& violation) {
      ADD_FAILURE() << violation.what() << "\n" << line;
    }
    EXPECT_EQ(decode(std::bit_cast<TensorMapBytes>(*call.words)), told(call.map)) << line;
  }
  EXPECT_GE(accepted, 400);
  EXPECT_GE(refused, 100);
}

TensorMap matrix() {
  return {.rank = 2,
          .address = 0x1000,
          .extents = {4096, 1024, 1, 1, 1},
          .strides = {8192},
          .swizzle = MapSwizzle::bytes128,
          .box = {64, 128, 1, 1, 1}};
}

std::string refusal_of_map(const TensorMap& map, MapTarget target = MapTarget::sm90) {
  try {
    check(map, target);
  } catch (const Violation& violation) {
    return violation.rule() + ": " + violation.what();
  }
  return {};
}

TEST(ModelTensorMap, RefusalsNameTheRuleAndTheNumbers) {
  EXPECT_EQ(refusal_of_map(matrix()), "");
  TensorMap map = matrix();
  map.box[0] = 128;
  EXPECT_EQ(refusal_of_map(map),
            "tensor_map.box_inner: rows of the box are 256 bytes, more than the 128-byte swizzle "
            "holds");
  map = matrix();
  map.strides[0] = 8200;
  EXPECT_EQ(refusal_of_map(map),
            "tensor_map.stride: stride 8200 of dimension 1 is not a multiple of 16 bytes below "
            "2^40");
  map = matrix();
  map.box[1] = 257;
  EXPECT_EQ(refusal_of_map(map),
            "tensor_map.box: box extent 257 of dimension 1 is not in 1 .. 256");
}

// CUDA driver API 13.0, cuTensorMapEncodeTiled: what it says of the types and swizzles that an H100
// refuses.
TEST(ModelTensorMap, OfSm100HasPackedTypesAndAtoms) {
  TensorMap map = matrix();
  map.swizzle = MapSwizzle::bytes128_atoms32_flip8;
  EXPECT_NE(refusal_of_map(map), "");
  EXPECT_EQ(refusal_of_map(map, MapTarget::sm100), "");
  map.type = MapElement::u6x16_padded;
  map.box[0] = 128;
  EXPECT_NE(refusal_of_map(map, MapTarget::sm100), "") << "8-byte flips are not for padded types";
  for (const MapSwizzle swizzle : {MapSwizzle::none, MapSwizzle::bytes128,
                                   MapSwizzle::bytes128_atoms32, MapSwizzle::bytes128_atoms64}) {
    map.swizzle = swizzle;
    EXPECT_EQ(refusal_of_map(map, MapTarget::sm100), "");
    EXPECT_NE(refusal_of_map(map, MapTarget::sm90), "");
    EXPECT_EQ(decode(encode(map, MapTarget::sm100)), map);
  }
  map.type = MapElement::u4x16_padded;
  EXPECT_NE(refusal_of_map(map, MapTarget::sm100), "") << "atoms of 64 bytes are for 6 bits only";
  map.swizzle = MapSwizzle::bytes128;
  map.box[0] = 64;
  EXPECT_NE(refusal_of_map(map, MapTarget::sm100), "") << "a row is 128 elements";
  map.box[0] = 128;
  map.address = 0x1010;
  EXPECT_NE(refusal_of_map(map, MapTarget::sm100), "") << "the address is a multiple of 32";
}

TEST(ModelTensorMap, DecodeRefusesOtherBytes) {
  EXPECT_THROW(decode(std::bit_cast<TensorMapBytes>(MapWords{0, ~0ull})), Violation);
  EXPECT_THROW(decode(std::bit_cast<TensorMapBytes>(MapWords{0, 1})), Violation);
  EXPECT_THROW(decode(std::bit_cast<TensorMapBytes>(MapWords{0, 1ull << 22})), Violation);
}

// PTX ISA 9.0, "tensormap.replace": each field, and that it leaves the others alone.
TEST(ModelTensorMap, ReplaceChangesOneField) {
  const TensorMap before = matrix();
  const auto replaced = [&](MapField field, int ordinal, std::uint64_t value) {
    TensorMapBytes bytes = encode(before);
    replace(bytes, field, ordinal, value);
    return decode(bytes);
  };
  TensorMap after = before;
  after.address = 0x123450;
  EXPECT_EQ(replaced(MapField::global_address, 0, 0x123450), after);
  after = before;
  after.rank = 3;
  EXPECT_EQ(replaced(MapField::rank, 0, 2), after) << "the rank less 1";
  after = before;
  after.box[1] = 256;
  EXPECT_EQ(replaced(MapField::box_dim, 1, 256), after);
  after = before;
  after.extents[0] = 77;
  EXPECT_EQ(replaced(MapField::global_dim, 0, 77), after);
  after = before;
  after.strides[0] = (std::uint64_t{1} << 40) - 16;
  EXPECT_EQ(replaced(MapField::global_stride, 0, after.strides[0]), after) << "in bytes";
  after = before;
  after.steps[1] = 8;
  EXPECT_EQ(replaced(MapField::element_stride, 1, 8), after);
  after = before;
  after.swizzle = MapSwizzle::bytes64;
  EXPECT_EQ(replaced(MapField::swizzle_mode, 0, 2), after);
  after = before;
  after.swizzle = MapSwizzle::bytes128_atoms64;
  EXPECT_EQ(replaced(MapField::swizzle_atomicity, 0, 3), after);
  after = before;
  after.fill_nan = true;
  EXPECT_EQ(replaced(MapField::fill_mode, 0, 1), after);
  after = before;
  after.interleave = MapInterleave::bytes32;
  EXPECT_EQ(replaced(MapField::interleave_layout, 0, 2), after);
  EXPECT_THROW(replaced(MapField::box_dim, 0, 257), Violation);
  EXPECT_THROW(replaced(MapField::box_dim, 5, 1), Violation);
  EXPECT_THROW(replaced(MapField::global_stride, 0, 8), Violation);
}

// The types in the order of the instruction's table: not that of CUtensorMapDataType.
TEST(ModelTensorMap, ReplaceNumbersTypesItsOwnWay) {
  constexpr MapElement kTypes[] = {
      MapElement::u8,       MapElement::u16,   MapElement::u32,          MapElement::s32,
      MapElement::u64,      MapElement::s64,   MapElement::f16,          MapElement::f32,
      MapElement::f32_ftz,  MapElement::f64,   MapElement::bf16,         MapElement::tf32,
      MapElement::tf32_ftz, MapElement::u4x16, MapElement::u4x16_padded, MapElement::u6x16_padded};
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    TensorMapBytes bytes = encode(matrix());
    replace(bytes, MapField::elemtype, 0, i);
    EXPECT_EQ(decode(bytes).type, kTypes[i]) << i;
  }
}

}  // namespace
}  // namespace assay::model

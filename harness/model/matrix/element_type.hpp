// SPDX-License-Identifier: Apache-2.0
// The element types of matrix instructions.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/numerics/float_format.hpp"

namespace assay::model::matrix {

// One element in a 32-bit word, in its low bits; tf32 takes the whole word. f64 alone needs two.
using Word = std::uint32_t;

enum class Type : std::uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  e2m3,
  e3m2,
  e2m1,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32,
};

const char* name(Type type);

// As PTX spells it, without the dot; none for any other word.
std::optional<Type> find_type(std::string_view name);

// Bits that the value has; what holds it may have more (e2m3 in a byte).
int bits_of(Type type);
bool is_integer(Type type);  // b1 among them
bool is_signed(Type type);

// Of a floating-point type but f64. Throws Violation("matrix.type") for any other.
const numerics::FloatFormat& format_of(Type type);

// The value of an element of any type but f64; of b1 0 or 1.
double value_of(Type type, Word element);

}  // namespace assay::model::matrix

// SPDX-License-Identifier: Apache-2.0
// Numbers of PTX's types as bits: reading, rounding and writing.
#pragma once
#include <cmath>
#include <cstdint>
#include <string_view>

#include "harness/model/ptx/module.hpp"

namespace assay::model {

enum class Rounding : std::uint8_t { nearest, zero, down, up, away };

// A type of values: integers, and floating-point formats by their fields.
struct Number {
  enum class Kind : std::uint8_t { unsigned_, signed_, bits, floating };
  Kind kind = Kind::bits;
  int bits = 32;
  int count = 1;  // packed in one register
  int exponent_bits = 0, fraction_bits = 0;
  bool infinity = true;  // false: the format has no infinities (e4m3, e2m3, e3m2, e2m1)
  bool nan = true;       // false: nor NaN

  bool floating() const { return kind == Kind::floating; }
};

// The type that a word of an opcode names: "s32", "f16x2", "e4m3x2", "tf32"; false if none.
bool parse_number(std::string_view word, Number& number);

// Exact for every type but 64-bit integers beyond 2^53.
double to_double(const Number& type, std::uint64_t bits);

// `value` rounded to the format. `saturate`: beyond the largest goes to the largest, NaN (where the
// format has none) to it too; else to infinity, or to NaN where there is no infinity.
std::uint64_t from_double(const Number& type, double value, Rounding rounding = Rounding::nearest,
                          bool saturate = false);

// min and max: of a number and a NaN the number, and -0 is less than +0.
template <class T>
T least_or_most(T a, T b, bool most) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) == most ? b : a;
  return (a < b) != most ? a : b;
}

}  // namespace assay::model

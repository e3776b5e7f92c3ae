// SPDX-License-Identifier: Apache-2.0
// Floating-point formats as integers: sign, exponent and significand of their bits, and back.
#pragma once
#include <cstdint>
#include <string>

namespace assay::numerics {

using Bits = std::uint64_t;

enum class Rounding : std::uint8_t { toward_zero, nearest_even, down };
const char* name(Rounding rounding);

struct FloatFormat {
  std::string name;
  int exponent_bits, fraction_bits;
  bool infinities = true;  // e4m3 has none: all but its last pattern there are numbers
  int unused_bits = 0;     // below the fraction: tf32 is kept in 32 bits
  bool nans = true;        // types of 6 and 4 bits have none, nor infinities

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int least_exponent() const { return 1 - bias(); }  // of a normal number
  int greatest_exponent() const { return infinities ? bias() : bias() + 1; }
  Bits sign_bit() const { return Bits{1} << (exponent_bits + fraction_bits + unused_bits); }
  Bits infinity() const;  // positive; 0 where there is none
  Bits nan() const;       // positive, all bits set; 0 where there is none
  Bits greatest() const;  // positive, finite
};

// "f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 f32"; throws Error(usage) for any other.
FloatFormat float_format(const std::string& name);

// (-1)^negative * significand * 2^(exponent - fraction_bits). A subnormal keeps the least exponent
// and a significand below 2^fraction_bits; of zero the significand is 0.
struct Number {
  enum class Kind : std::uint8_t { finite, infinite, nan };
  Kind kind = Kind::finite;
  bool negative = false;
  int exponent = 0;
  std::uint64_t significand = 0;

  bool zero() const { return kind == Kind::finite && significand == 0; }
};

Number decode(const FloatFormat& format, Bits bits);
double value(const FloatFormat& format, Bits bits);

// How a sum becomes a result.
struct Result {
  int fraction_bits;  // kept, at most the format's
  Rounding rounding = Rounding::toward_zero;
  bool overflow_to_infinity = true;  // else to the greatest finite number
  bool underflow_keeps_sign = true;  // of what is rounded to zero
};

// (-1)^negative * magnitude * 2^exponent, rounded; magnitude is below 2^62.
Bits encode(const FloatFormat& format, const Result& result, bool negative, std::uint64_t magnitude,
            int exponent);
// The nearest number, ties to even, as IEEE 754 has it.
Bits encode(const FloatFormat& format, double value);

// Shifts `magnitude` right by `bits` (left if negative), rounding what falls off.
std::uint64_t shift_right(std::uint64_t magnitude, int bits, Rounding rounding, bool negative);

}  // namespace assay::numerics

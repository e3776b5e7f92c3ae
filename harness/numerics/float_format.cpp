// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/float_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "harness/error.hpp"

namespace assay::numerics {
namespace {

Bits ones(int count) { return (Bits{1} << count) - 1; }

}  // namespace

const char* name(Rounding rounding) {
  switch (rounding) {
    case Rounding::toward_zero:
      return "truncated";
    case Rounding::nearest_even:
      return "rounded to nearest even";
    case Rounding::down:
      return "rounded down";
  }
  return "";
}

Bits FloatFormat::infinity() const {
  return infinities ? ones(exponent_bits) << (fraction_bits + unused_bits) : 0;
}
Bits FloatFormat::nan() const { return nans ? sign_bit() - 1 : 0; }
Bits FloatFormat::greatest() const {
  const Bits unit = Bits{1} << unused_bits;
  if (!nans) return sign_bit() - unit;
  return (infinities ? infinity() : nan()) - unit;
}

FloatFormat float_format(const std::string& name) {
  static const FloatFormat formats[] = {{"f16", 5, 10},
                                        {"bf16", 8, 7},
                                        {"tf32", 8, 10, true, 13},
                                        {"e4m3", 4, 3, false},
                                        {"e5m2", 5, 2},
                                        {"e2m3", 2, 3, false, 0, false},
                                        {"e3m2", 3, 2, false, 0, false},
                                        {"e2m1", 2, 1, false, 0, false},
                                        {"f32", 8, 23}};
  for (const FloatFormat& format : formats)
    if (format.name == name) return format;
  throw Error(ExitCode::usage, "no floating-point format '" + name + "' in harness/numerics");
}

Number decode(const FloatFormat& format, Bits bits) {
  Number number{.negative = (bits & format.sign_bit()) != 0};
  const Bits magnitude = bits & (format.sign_bit() - 1);
  const auto field = static_cast<int>(magnitude >> (format.fraction_bits + format.unused_bits));
  number.significand = (magnitude >> format.unused_bits) & ones(format.fraction_bits);
  const bool last = field == (1 << format.exponent_bits) - 1;
  if (format.infinities && last) {
    number.kind = number.significand == 0 ? Number::Kind::infinite : Number::Kind::nan;
    return number;
  }
  if (format.nans && last && number.significand == ones(format.fraction_bits))
    number.kind = Number::Kind::nan;
  number.exponent = std::max(field, 1) - format.bias();
  if (field > 0) number.significand |= Bits{1} << format.fraction_bits;
  return number;
}

double value(const FloatFormat& format, Bits bits) {
  const Number number = decode(format, bits);
  const double sign = number.negative ? -1 : 1;
  if (number.kind == Number::Kind::nan) return std::nan("");
  if (number.kind == Number::Kind::infinite) return sign * HUGE_VAL;
  return sign * std::ldexp(static_cast<double>(number.significand),
                           number.exponent - format.fraction_bits);
}

std::uint64_t shift_right(std::uint64_t magnitude, int bits, Rounding rounding, bool negative) {
  if (magnitude == 0) return 0;
  if (bits <= 0) return magnitude << -bits;
  if (bits > 63) bits = 63;  // all of it, and below half of a unit: magnitudes are below 2^62
  const std::uint64_t kept = magnitude >> bits, rest = magnitude & ones(bits);
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  switch (rounding) {
    case Rounding::toward_zero:
      return kept;
    case Rounding::nearest_even:
      return kept + (rest > half || (rest == half && (kept & 1)));
    case Rounding::down:
      return kept + (negative && rest != 0);
  }
  return kept;
}

Bits encode(const FloatFormat& format, const Result& result, bool negative, std::uint64_t magnitude,
            int exponent) {
  const Bits sign = negative ? format.sign_bit() : 0;
  if (magnitude == 0) return sign;
  const int top = std::bit_width(magnitude) - 1 + exponent;
  int last = std::max(top, format.least_exponent()) - result.fraction_bits;  // of what is kept
  std::uint64_t kept = shift_right(magnitude, last - exponent, result.rounding, negative);
  if (kept == 0) return result.underflow_keeps_sign ? sign : 0;
  if (kept >> (result.fraction_bits + 1)) {  // rounded up to the next power of two
    kept >>= 1;
    ++last;
  }
  const bool normal = (kept >> result.fraction_bits) != 0;
  const int field = normal ? last + result.fraction_bits + format.bias() : 0;
  const Bits fraction = kept & ones(result.fraction_bits);
  const Bits bits = ((static_cast<Bits>(field) << result.fraction_bits) | fraction)
                    << (format.fraction_bits - result.fraction_bits + format.unused_bits);
  if (bits <= format.greatest()) return sign | bits;
  return sign |
         (result.overflow_to_infinity && format.infinities ? format.infinity() : format.greatest());
}

Bits encode(const FloatFormat& format, double value) {
  const bool negative = std::signbit(value);
  const Bits sign = negative ? format.sign_bit() : 0;
  if (std::isnan(value)) return sign | (format.nans ? format.nan() : format.greatest());
  if (std::isinf(value)) return sign | (format.infinities ? format.infinity() : format.greatest());
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);
  return encode(format, {format.fraction_bits, Rounding::nearest_even}, negative,
                static_cast<std::uint64_t>(std::ldexp(fraction, 53)), exponent - 53);
}

}  // namespace assay::numerics

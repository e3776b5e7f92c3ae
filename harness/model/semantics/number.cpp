// SPDX-License-Identifier: Apache-2.0
#include "harness/model/semantics/number.hpp"

#include <bit>
#include <cmath>

namespace assay::model {
namespace {

struct Format {
  std::string_view name;
  int bits, exponent, fraction;
  bool infinity, nan;
};

// tf32 lies in the upper 19 of 32 bits; its low 13 are ignored when read and zero when written.
constexpr Format kFormats[] = {
    {"f64", 64, 11, 52, true, true}, {"f32", 32, 8, 23, true, true},
    {"tf32", 32, 8, 10, true, true}, {"f16", 16, 5, 10, true, true},
    {"bf16", 16, 8, 7, true, true},  {"e5m2", 8, 5, 2, true, true},
    {"e4m3", 8, 4, 3, false, true},  {"e3m2", 8, 3, 2, false, false},
    {"e2m3", 8, 2, 3, false, false}, {"e2m1", 4, 2, 1, false, false},
    {"ue8m0", 8, 8, 0, false, true},
};

double round_integer(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest:
      return std::nearbyint(value);
    case Rounding::zero:
      return std::trunc(value);
    case Rounding::down:
      return std::floor(value);
    case Rounding::up:
      return std::ceil(value);
    case Rounding::away:
      return std::round(value);
  }
  return value;
}

int bias(const Number& t) { return (1 << (t.exponent_bits - 1)) - 1; }

// Bits of the largest finite value, without sign.
std::uint64_t largest(const Number& t) {
  const std::uint64_t all = (std::uint64_t{1} << (t.exponent_bits + t.fraction_bits)) - 1;
  if (t.infinity) return all - (std::uint64_t{1} << t.fraction_bits);
  return t.nan ? all - 1 : all;
}

}  // namespace

bool parse_number(std::string_view word, Number& number) {
  number = {};
  if (word.size() > 2 && word[word.size() - 2] == 'x' && word != "ue8m0") {
    const char digit = word.back();
    if (digit == '2' || digit == '4' || digit == '8') {
      number.count = digit - '0';
      word.remove_suffix(2);
    }
  }
  for (const Format& f : kFormats) {
    if (word != f.name) continue;
    number.kind = Number::Kind::floating;
    number.bits = f.bits;
    number.exponent_bits = f.exponent;
    number.fraction_bits = f.fraction;
    number.infinity = f.infinity;
    number.nan = f.nan;
    return true;
  }
  Type type;
  if (!parse_type(word, type) || type.kind == Type::Kind::floating) return false;
  number.bits = type.bits;
  number.kind = type.kind == Type::Kind::signed_     ? Number::Kind::signed_
                : type.kind == Type::Kind::unsigned_ ? Number::Kind::unsigned_
                                                     : Number::Kind::bits;
  return true;
}

// As a double that is normal. std::ldexp is a call, and a tenth of the time of kernels that
// convert.
static double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

double to_double(const Number& t, std::uint64_t bits) {
  if (!t.floating()) {
    if (t.bits < 64) bits &= (std::uint64_t{1} << t.bits) - 1;
    if (t.kind == Number::Kind::signed_)
      return static_cast<double>(static_cast<std::int64_t>(bits << (64 - t.bits)) >> (64 - t.bits));
    return static_cast<double>(bits);
  }
  if (t.bits == 64) return std::bit_cast<double>(bits);
  if (t.bits == 32) {
    if (t.fraction_bits == 10) bits &= ~std::uint64_t{0x1fff};
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
  if (t.fraction_bits == 0)  // ue8m0
    return (bits & 0xff) == 0xff ? std::nan("")
                                 : std::ldexp(1.0, static_cast<int>(bits & 0xff) - 127);
  const int width = 1 + t.exponent_bits + t.fraction_bits;
  const bool minus = (bits >> (width - 1) & 1) != 0;
  const std::uint64_t magnitude = bits & ((std::uint64_t{1} << (width - 1)) - 1);
  if (magnitude > largest(t)) {
    const bool is_infinite = t.infinity && magnitude == largest(t) + 1;
    // A NaN keeps its sign and what it carries, and is quiet then: so an H200 leaves cvt.f64.f16.
    const std::uint64_t carried = magnitude & ((std::uint64_t{1} << t.fraction_bits) - 1);
    const double nan =
        std::bit_cast<double>(std::uint64_t{0xfff} << 51 | carried << (52 - t.fraction_bits));
    return std::copysign(is_infinite ? HUGE_VAL : nan, minus ? -1.0 : 1.0);
  }
  const auto exponent = static_cast<int>(magnitude >> t.fraction_bits);
  const auto fraction =
      static_cast<double>(magnitude & ((std::uint64_t{1} << t.fraction_bits) - 1));
  const double value = exponent == 0 ? fraction * power_of_two(1 - bias(t) - t.fraction_bits)
                                     : (1.0 + fraction * power_of_two(-t.fraction_bits)) *
                                           power_of_two(exponent - bias(t));
  return minus ? -value : value;
}

std::uint64_t from_double(const Number& t, double value, Rounding rounding, bool saturate) {
  if (!t.floating()) {
    if (std::isnan(value)) return 0;
    value = round_integer(value, rounding);
    const bool is_signed = t.kind == Number::Kind::signed_;
    const double high = std::ldexp(1.0, is_signed ? t.bits - 1 : t.bits);
    const double lowest = is_signed ? -high : 0;
    // Conversions from floating point always clamp (PTX ISA 9.0, "cvt").
    const std::uint64_t all = t.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << t.bits) - 1;
    if (value >= high) return is_signed ? all >> 1 : all;
    if (value < lowest) return is_signed ? (all >> 1) + 1 : 0;
    return (is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                      : static_cast<std::uint64_t>(value)) &
           all;
  }
  if (t.bits == 64) return std::bit_cast<std::uint64_t>(value);
  if (t.bits == 32 && t.fraction_bits == 23 && rounding == Rounding::nearest) {
    // What a C++ cast does; not for NaNs, and for what leaves the range, which may saturate.
    const auto nearest = static_cast<float>(value);
    if (std::isfinite(nearest)) return std::bit_cast<std::uint32_t>(nearest);
  }
  const int width = 1 + t.exponent_bits + t.fraction_bits;
  const int shift = t.bits == 32 && t.fraction_bits == 10 ? 13 : 0;
  if (t.fraction_bits == 0) {  // ue8m0: no sign, powers of two
    value = std::fabs(value);
    if (std::isnan(value)) return 0xff;
    if (value == 0) return 0;
    if (std::isinf(value)) return 0xfe;
    int e = 0;
    const double m = std::frexp(value, &e);  // value = m * 2^e, m in [0.5, 1)
    int power = e - 1 + (rounding == Rounding::up && m > 0.5 ? 1 : 0);
    power = power < -127 ? -127 : power > 127 ? 127 : power;
    return static_cast<std::uint64_t>(power + 127);
  }
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (width - 1) : 0;
  const auto make = [&](std::uint64_t magnitude, bool with_sign) {
    return ((with_sign ? sign : 0) | magnitude) << shift;
  };
  if (std::isnan(value)) {
    if (!t.nan) return make(largest(t), false);
    // The canonical NaN: all ones but the sign.
    return make((std::uint64_t{1} << (width - 1)) - 1, false);
  }
  const double magnitude = std::fabs(value);
  const auto beyond = [&]() {
    if (saturate) return make(largest(t), true);
    if (t.infinity) return make(largest(t) + 1, true);
    return t.nan ? make((std::uint64_t{1} << (width - 1)) - 1, true) : make(largest(t), true);
  };
  if (std::isinf(value)) return beyond();
  if (magnitude == 0) return make(0, true);
  int e = 0;
  std::frexp(magnitude, &e);
  const int exponent = std::max(e - 1, 1 - bias(t));  // of the unit before the fraction
  const double unit = power_of_two(exponent - t.fraction_bits);
  Rounding r = rounding;
  if (sign != 0) r = r == Rounding::down ? Rounding::up : r == Rounding::up ? Rounding::down : r;
  const double units = round_integer(magnitude / unit, r);
  // As fraction and exponent: subnormals and carries into the exponent follow by themselves.
  const auto steps = static_cast<std::uint64_t>(units);
  const std::uint64_t result =
      (static_cast<std::uint64_t>(exponent + bias(t) - 1) << t.fraction_bits) + steps;
  if (result > largest(t)) {
    const bool toward_zero = r == Rounding::zero || r == Rounding::down;
    if (toward_zero && t.infinity) return make(largest(t), true);
    return beyond();
  }
  return make(result, true);
}

}  // namespace assay::model

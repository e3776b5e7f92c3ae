// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/mma_model.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace assay::numerics {
namespace {

// (-1)^negative * significand * 2^(exponent - fraction_bits), where `exponent` is what the hardware
// aligns by: that of the product's factors added, without a look at the product.
struct Addend {
  bool negative;
  int exponent, fraction_bits;
  std::uint64_t significand;
  bool normalized;  // align by its first bit instead
  int alignment() const {
    return normalized && significand ? exponent - fraction_bits + std::bit_width(significand) - 1
                                     : exponent;
  }
};

bool subnormal(const FloatFormat& format, const Number& n) {
  return n.significand != 0 && n.significand >> format.fraction_bits == 0;
}

Addend addend(const MmaModel& m, const FloatFormat& format, Number n) {
  const bool small = subnormal(format, n);
  return {n.negative, n.exponent, format.fraction_bits, n.significand,
          small && m.normalizes_subnormals};
}

Addend product(const MmaModel& m, Number a, Number b) {
  const bool small = subnormal(m.a, a) || subnormal(m.b, b);
  if (small && !m.keeps_subnormal_inputs) {
    if (subnormal(m.a, a)) a.significand = 0;
    if (subnormal(m.b, b)) b.significand = 0;
  }
  return {a.negative != b.negative, a.exponent + b.exponent, m.a.fraction_bits + m.b.fraction_bits,
          a.significand * b.significand,
          m.normalizes_products || (small && m.normalizes_subnormals)};
}

Bits sum(const MmaModel& m, std::span<const Addend> addends) {
  int greatest = m.least_exponent;
  for (const Addend& x : addends)
    if (x.significand != 0 || m.zeros_count) greatest = std::max(greatest, x.alignment());
  const int last = greatest - m.fraction_bits;  // exponent of the last bit that is kept
  std::int64_t total = 0;
  bool negative_zeros = true;
  for (const Addend& x : addends) {
    const auto kept = static_cast<std::int64_t>(
        shift_right(x.significand, last - (x.exponent - x.fraction_bits), m.addend, x.negative));
    total += x.negative ? -kept : kept;
    negative_zeros = negative_zeros && x.significand == 0 && x.negative;
  }
  if (total == 0) return negative_zeros && m.keeps_negative_zero ? m.accumulator.sign_bit() : 0;
  return encode(m.accumulator, m.result, total < 0,
                static_cast<std::uint64_t>(total < 0 ? -total : total), last);
}

// What infinities and NaNs among the addends make of the sum, if there are any.
struct Special {
  bool nan = false, positive = false, negative = false;
  void add(const Number& n) {
    nan = nan || n.kind == Number::Kind::nan;
    if (n.kind == Number::Kind::infinite) (n.negative ? negative : positive) = true;
  }
  void add_product(const Number& a, const Number& b) {
    using Kind = Number::Kind;
    const bool infinite = a.kind == Kind::infinite || b.kind == Kind::infinite;
    nan = nan || a.kind == Kind::nan || b.kind == Kind::nan || (infinite && (a.zero() || b.zero()));
    if (infinite) (a.negative != b.negative ? negative : positive) = true;
  }
};

}  // namespace

MmaModel plain_model(const FloatFormat& operand, const FloatFormat& accumulator, int k) {
  return {.a = operand,
          .b = operand,
          .accumulator = accumulator,
          .stage = std::vector<int>(static_cast<std::size_t>(k), 0),
          .fraction_bits = accumulator.fraction_bits,
          .least_exponent = accumulator.least_exponent(),
          .result = {accumulator.fraction_bits},
          .nan = accumulator.nan()};
}

// Doubles hold the sum of two f16 exactly, and that of
// two f32 with more than twice their precision, so that rounding twice does no harm.
Bits add(const MmaModel& m, Bits x, Bits y) {
  const double total = value(m.accumulator, x) + value(m.accumulator, y);
  return total != total ? m.nan : encode(m.accumulator, total);
}

Bits multiply_add(const MmaModel& m, std::span<const Bits> a, std::span<const Bits> b, Bits c) {
  Bits running = m.adds_c_last ? 0 : c;
  const int stages = *std::ranges::max_element(m.stage) + 1;
  std::array<Addend, kMostProducts + 1> addends;
  for (int stage = 0; stage < stages; ++stage) {
    const Number so_far = decode(m.accumulator, running);
    Special special;
    special.add(so_far);
    addends[0] = addend(m, m.accumulator, so_far);
    std::size_t count = 1;
    for (std::size_t k = 0; k < m.stage.size(); ++k) {
      if (m.stage[k] != stage) continue;
      const Number x = decode(m.a, a[k]), y = decode(m.b, b[k]);
      special.add_product(x, y);
      addends[count++] = product(m, x, y);
    }
    if (special.nan || (special.positive && special.negative))
      running = m.nan;
    else if (special.positive || special.negative)
      running = m.accumulator.infinity() | (special.negative ? m.accumulator.sign_bit() : 0);
    else
      running = sum(m, std::span(addends).first(count));
  }
  return m.adds_c_last ? add(m, running, c) : running;
}

Bits multiply_add(const MmaModel& m, const Dot& dot) {
  return multiply_add(m, dot.a, dot.b, dot.c);
}

double agreement(const MmaModel& model, const std::vector<Dot>& dots,
                 const std::vector<Bits>& found) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < dots.size(); ++i) same += multiply_add(model, dots[i]) == found[i];
  return static_cast<double>(same) / static_cast<double>(dots.size());
}

}  // namespace assay::numerics

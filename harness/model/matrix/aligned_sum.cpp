// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/aligned_sum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace assay::model::matrix {
namespace {

using numerics::Bits;
using numerics::FloatFormat;
using numerics::MmaModel;

constexpr int kColumns = 8;        // in a vector
constexpr int kNone = -(1 << 20);  // the exponent of zero, which takes no part in the greatest

// How to take an element apart: (-1)^sign * significand * 2^(exponent - fraction_bits).
struct Splitter {
  // Magnitudes from `nonfinite` on are no numbers, those from `nan` on NaNs.
  std::uint32_t sign_bit, unused, nonfinite, nan;
  std::int32_t fraction_shift, exponent_shift, one, bias;

  explicit Splitter(const FloatFormat& f)
      : sign_bit(static_cast<std::uint32_t>(f.sign_bit())),
        unused((1u << f.unused_bits) - 1),
        nonfinite(static_cast<std::uint32_t>(f.infinities ? f.infinity()
                                             : f.nans     ? f.nan()
                                                          : f.sign_bit())),
        nan(static_cast<std::uint32_t>(f.infinities ? f.infinity() + 1 : nonfinite)),
        fraction_shift(f.unused_bits),
        exponent_shift(f.unused_bits + f.fraction_bits),
        one(1 << f.fraction_bits),
        bias(f.bias()) {}

  struct Split {
    std::int32_t exponent, significand, sign;  // the sign is 0 or -1
    bool finite, nan;
  };
  [[gnu::always_inline]] Split operator()(Word bits) const {
    const std::uint32_t magnitude = bits & (sign_bit - 1) & ~unused;
    const auto field = static_cast<std::int32_t>(magnitude >> exponent_shift);
    const std::int32_t fraction =
        static_cast<std::int32_t>(magnitude >> fraction_shift) & (one - 1);
    const std::int32_t significand = fraction + (field > 0 ? one : 0);
    return {significand == 0 ? kNone : std::max(field, 1) - bias, significand,
            bits & sign_bit ? -1 : 0, magnitude < nonfinite, magnitude >= nan};
  }
};

enum class Worst : std::uint8_t { finite, infinite, nan };

// An operand's elements taken apart.
struct Parts {
  std::vector<std::int32_t> exponent, significand, sign;
  explicit Parts(std::size_t count) : exponent(count), significand(count), sign(count) {}

  // Of a line of elements `found` says what the worst is.
  void set(std::size_t at, const Splitter& split, Word bits, Worst& found) {
    const Splitter::Split s = split(bits);
    exponent[at] = s.exponent;
    significand[at] = s.significand;
    sign[at] = s.sign;
    if (!s.finite) found = std::max(found, s.nan ? Worst::nan : Worst::infinite);
  }
};

// One row of A with `count` columns of B and C.
struct Row {
  const std::int32_t *a_exponent, *a_significand, *a_sign;  // [k]
  const std::int32_t *b_exponent, *b_significand, *b_sign;  // [k][stride]
  const Word* c;                                            // [column]
  Splitter split_c;
  int count, k, stride;
  int product_shift;    // from a product's fraction bits to those kept
  int c_left, c_right;  // likewise of C, left first
  int least_exponent;
  int fraction_bits;
  std::uint64_t result_mask;  // the bits of a double that an f32 result keeps
};

// What becomes of it: the sum is total * 2^(greatest - fraction_bits). As f32, cut, where that is a
// normal number or zero; elsewhere `odd` is set.
struct Sums {
  std::int32_t* greatest;
  double* total;
  float* as_f32;
  std::int32_t *odd, *c_is_finite;
};

// Inlined into one function for each instruction set. Copies and arrays of its own, so that the
// compiler sees that nothing overlaps.
[[gnu::always_inline]] inline void add_up(const Row& row, const Sums& out) {
  const Row r = row;
  const Splitter split_c = r.split_c;
  for (int first = 0; first < r.count; first += kColumns) {
    std::int32_t c_exponent[kColumns], c_significand[kColumns], c_sign[kColumns],
        c_is_finite[kColumns];
    std::int32_t greatest[kColumns], sum[kColumns], odd[kColumns];
    double total[kColumns];
    float as_f32[kColumns];
    for (int j = 0; j < kColumns; ++j) {
      const Splitter::Split c = split_c(r.c[first + j]);
      c_exponent[j] = c.exponent;
      c_significand[j] = c.significand;
      c_sign[j] = c.sign;
      c_is_finite[j] = c.finite;
      greatest[j] = std::max(c.exponent, r.least_exponent);
      sum[j] = 0;
    }
    for (int k = 0; k < r.k; ++k) {
      const std::int32_t exponent = r.a_exponent[k];
      const std::int32_t* of_b = r.b_exponent + k * r.stride + first;
      for (int j = 0; j < kColumns; ++j) greatest[j] = std::max(greatest[j], exponent + of_b[j]);
    }
    for (int k = 0; k < r.k; ++k) {
      const std::int32_t exponent = r.a_exponent[k], sign = r.a_sign[k];
      const std::int32_t significand = r.a_significand[k] << r.product_shift;
      const int at = k * r.stride + first;
      for (int j = 0; j < kColumns; ++j) {
        const std::int32_t shift = greatest[j] - exponent - r.b_exponent[at + j];
        const std::int32_t kept =
            (significand * r.b_significand[at + j]) >> std::min(shift, std::int32_t{31});
        const std::int32_t negative = sign ^ r.b_sign[at + j];
        sum[j] += (kept ^ negative) - negative;
      }
    }
    for (int j = 0; j < kColumns; ++j) {
      const std::int32_t shift = greatest[j] - c_exponent[j] + r.c_right;
      const std::int32_t kept = (c_significand[j] << r.c_left) >> std::min(shift, std::int32_t{31});
      // Sixteen products may leave no room for C in 32 bits.
      total[j] = static_cast<double>(sum[j]) + static_cast<double>((kept ^ c_sign[j]) - c_sign[j]);
    }
    for (int j = 0; j < kColumns; ++j) {
      const std::int64_t exponent = std::max(greatest[j] - r.fraction_bits, -1000);
      const double exact = total[j] * std::bit_cast<double>((exponent + 1023) << 52);
      const double cut = std::bit_cast<double>(std::bit_cast<std::uint64_t>(exact) & r.result_mask);
      as_f32[j] = static_cast<float>(cut);
    }
    // Of a number that an f32 cannot hold, or only as a subnormal, the exponent shows it.
    for (int j = 0; j < kColumns; ++j) {
      const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(as_f32[j]) & 0x7fffffffu;
      const bool outside = magnitude <= 0x00800000u || magnitude >= 0x7f800000u;
      odd[j] = total[j] != 0 && outside;
    }
    std::memcpy(out.greatest + first, greatest, sizeof greatest);
    std::memcpy(out.total + first, total, sizeof total);
    std::memcpy(out.as_f32 + first, as_f32, sizeof as_f32);
    std::memcpy(out.odd + first, odd, sizeof odd);
    std::memcpy(out.c_is_finite + first, c_is_finite, sizeof c_is_finite);
  }
}

[[gnu::target("avx2")]] void add_up_avx2(const Row& row, const Sums& out) { add_up(row, out); }
void add_up_anywhere(const Row& row, const Sums& out) { add_up(row, out); }

int ceil_log2(int value) { return std::bit_width(static_cast<unsigned>(value - 1)); }

}  // namespace

bool has_aligned_sums(const MmaModel& m, int k) {
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits;
  return std::ranges::all_of(m.stage, [](int stage) { return stage == 0; }) && !m.adds_c_last &&
         m.addend == numerics::Rounding::toward_zero && !m.normalizes_products &&
         !m.normalizes_subnormals && !m.zeros_count && m.keeps_subnormal_inputs &&
         !m.keeps_negative_zero && m.fraction_bits >= product_bits && m.fraction_bits <= 25 &&
         m.fraction_bits + 2 + ceil_log2(k) <= 31;
}

void aligned_sums(const MmaModel& model, Extent e, std::span<const Word> a, std::span<const Word> b,
                  std::span<const Word> c, std::span<Word> d, Vectors vectors) {
  const bool avx2 = vectors == Vectors::best && __builtin_cpu_supports("avx2");
  const auto m = static_cast<std::size_t>(e.m), n = static_cast<std::size_t>(e.n);
  const auto k = static_cast<std::size_t>(e.k);
  Parts of_a(m * k), of_b(n * k);
  const Splitter split_a(model.a), split_b(model.b), split_c(model.accumulator);
  std::vector<Worst> rows(m), columns(n);
  for (std::size_t row = 0; row < m; ++row)
    for (std::size_t at = 0; at < k; ++at)
      of_a.set(row * k + at, split_a, a[row * k + at], rows[row]);
  for (std::size_t at = 0; at < k; ++at)
    for (std::size_t column = 0; column < n; ++column)
      of_b.set(at * n + column, split_b, b[column * k + at], columns[column]);
  const bool to_f32 = model.accumulator.fraction_bits == 23 &&
                      model.result.rounding == numerics::Rounding::toward_zero;
  std::vector<std::int32_t> greatest(n), odd(n), c_is_finite(n);
  const std::vector<Word> zeros(c.empty() ? n : 0);
  std::vector<double> total(n);
  std::vector<float> as_f32(n);
  std::array<Bits, numerics::kMostProducts> dot_a, dot_b;
  const auto one_by_one = [&](std::size_t row, std::size_t column) {
    for (std::size_t at = 0; at < k; ++at) {
      dot_a[at] = a[row * k + at];
      dot_b[at] = b[column * k + at];
    }
    return numerics::multiply_add(model, std::span(dot_a).first(k), std::span(dot_b).first(k),
                                  c.empty() ? 0 : c[row * n + column]);
  };
  for (std::size_t row = 0; row < m; ++row) {
    const Row one{
        .a_exponent = &of_a.exponent[row * k],
        .a_significand = &of_a.significand[row * k],
        .a_sign = &of_a.sign[row * k],
        .b_exponent = of_b.exponent.data(),
        .b_significand = of_b.significand.data(),
        .b_sign = of_b.sign.data(),
        .c = c.empty() ? zeros.data() : &c[row * n],
        .split_c = split_c,
        .count = e.n,
        .k = e.k,
        .stride = e.n,
        .product_shift = model.fraction_bits - model.a.fraction_bits - model.b.fraction_bits,
        .c_left = 25 - model.accumulator.fraction_bits,
        .c_right = 25 - model.fraction_bits,
        .least_exponent = std::max(model.least_exponent, kNone),
        .fraction_bits = model.fraction_bits,
        .result_mask = ~((std::uint64_t{1} << (52 - model.result.fraction_bits)) - 1)};
    (avx2 ? add_up_avx2 : add_up_anywhere)(
        one, {greatest.data(), total.data(), as_f32.data(), odd.data(), c_is_finite.data()});
    for (std::size_t column = 0; column < n; ++column) {
      Word& result = d[row * n + column];
      const Worst worst = std::max(rows[row], columns[column]);
      if (worst == Worst::nan)
        result = static_cast<Word>(model.nan);
      else if (!c_is_finite[column] || worst != Worst::finite)
        result = static_cast<Word>(one_by_one(row, column));
      else if (to_f32 && !odd[column])
        result = std::bit_cast<Word>(as_f32[column]);
      else if (total[column] == 0)
        result = 0;
      else
        result = static_cast<Word>(numerics::encode(
            model.accumulator, model.result, total[column] < 0,
            static_cast<std::uint64_t>(total[column] < 0 ? -total[column] : total[column]),
            greatest[column] - model.fraction_bits));
    }
  }
}

}  // namespace assay::model::matrix

// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "harness/model/matrix/aligned_sum.hpp"
#include "harness/model/matrix/exact_sum.hpp"
#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

using numerics::Bits;
using numerics::MmaModel;
using numerics::Rounding;

bool is_fp8(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

// What numerics/accumulate found on an H200: see `finding`, `order`, `c`, `nan` and the rest of the
// parameters of its cases in results/h200, which a test beside the probe compares this with. There
// is no least exponent that sums are aligned to: where one could be seen (bf16, tf32, and e5m2
// added in f16) the accumulator's, which the experiments begin with, was given up for the random
// data.
MmaModel hopper_model(const Operation& o) {
  MmaModel m = numerics::plain_model(format_of(o.a), format_of(o.d), o.k);
  m.b = format_of(o.b);
  m.fraction_bits = 25;
  m.result = {23};
  m.least_exponent = -1000;
  if (is_fp8(o.a) && o.unit == Unit::wgmma) {
    m.fraction_bits = 13;
    m.result = {13};
  }
  if (o.d == Type::f16) m.result = {10, Rounding::nearest_even};
  if (is_fp8(o.a) && o.unit == Unit::mma_sync) {
    // Converted to f16 and multiplied by two instructions of it, whose results C is added to: the
    // machine code of sm_90a shows it, HMMA.1688 for K = 16, HMMA.16816 for K = 32, and
    // HMMA.SP.16832 for a sparse K = 64, which takes the stored elements in the same turns.
    for (std::size_t at = 0; at < m.stage.size(); ++at) m.stage[at] = static_cast<int>(at % 4 / 2);
    m.adds_c_last = true;
  }
  return m;
}

Certainty certainty_of(const Operation& o) {
  if (is_integer(o.a))  // exact in all shapes; that it wraps round was seen
    return o.machine == Machine::hopper && o.a == Type::s8 && o.b == Type::s8 ? Certainty::measured
                                                                              : Certainty::inferred;
  const bool six_or_four_bits = !is_integer(o.a) && (bits_of(o.a) < 8 || bits_of(o.b) < 8);
  if (o.machine != Machine::hopper || six_or_four_bits) return Certainty::bounded;
  if (o.a == Type::f64) return o.m == 16 && o.k == 16 ? Certainty::measured : Certainty::inferred;
  // m8n8k4 of f16 has no instruction: ptxas emulates it (multiply_one_by_one()).
  if ((o.m == 8 && o.n == 8) || o.c != o.d) return Certainty::bounded;
  const int measured_k = is_fp8(o.a) ? 32 : o.a == Type::tf32 ? 8 : 16;
  return o.k == measured_k && o.a == o.b && !o.sparse ? Certainty::measured : Certainty::inferred;
}

void check_types(const Operation& o) {
  const auto refuse = [&] {
    throw Violation("matrix.type", std::string("no instruction multiplies ") + name(o.a) + " by " +
                                       name(o.b) + " into " + name(o.d));
  };
  if (is_integer(o.a)) {
    if (!is_integer(o.b) || o.d != Type::s32 || o.c != Type::s32 || o.a == Type::s32) refuse();
    return;
  }
  if (o.a == Type::f64) {
    if (o.b != Type::f64 || o.c != Type::f64 || o.d != Type::f64) refuse();
    return;
  }
  const auto accumulates = [](Type type) { return type == Type::f32 || type == Type::f16; };
  if (is_integer(o.b) || o.b == Type::f64 || o.a == Type::f32 || o.b == Type::f32 ||
      !accumulates(o.c) || !accumulates(o.d))
    refuse();
}

// Integers, and bits: exact, then as many bits as there are.
void multiply_integers(const Arithmetic& x, const Factors& f, std::span<Word> d) {
  const auto m = static_cast<std::size_t>(x.m), n = static_cast<std::size_t>(x.n);
  const auto k = static_cast<std::size_t>(x.k);
  std::vector<std::int32_t> a(m * k), b(n * k);
  const auto read = [](Type type, std::span<const Word> from, std::vector<std::int32_t>& to) {
    for (std::size_t at = 0; at < to.size(); ++at)
      to[at] = static_cast<std::int32_t>(value_of(type, from[at]));
  };
  read(x.a, f.a, a);
  read(x.b, f.b, b);
  const bool exclusive = x.bit_operation == BitOperation::bit_xor;
  for (std::size_t row = 0; row < m; ++row)
    for (std::size_t column = 0; column < n; ++column) {
      std::int32_t sum = 0;  // at most 256 products of 16 bits
      const std::int32_t *of_a = &a[row * k], *of_b = &b[column * k];
      if (x.a == Type::b1 && exclusive)
        for (std::size_t at = 0; at < k; ++at) sum += of_a[at] ^ of_b[at];
      else
        for (std::size_t at = 0; at < k; ++at) sum += of_a[at] * of_b[at];
      const std::size_t to = row * n + column;
      std::int64_t total = sum;
      if (!f.c.empty()) total += static_cast<std::int32_t>(f.c[to]);
      if (x.saturate)
        total = std::clamp<std::int64_t>(total, std::numeric_limits<std::int32_t>::min(),
                                         std::numeric_limits<std::int32_t>::max());
      d[to] = static_cast<Word>(total);
    }
}

double scale_value(Scale scale, Word bits) {
  if (scale == Scale::ue8m0)
    return (bits & 0xff) == 0xff ? std::nan("")
                                 : std::ldexp(1.0, static_cast<int>(bits & 0xff) - 127);
  // ue4m3 has no sign: its eighth bit is not looked at.
  return numerics::value(format_of(Type::e4m3), bits & 0x7f);
}

std::vector<double> values(Type type, Scale scale, int block, std::span<const Word> elements,
                           std::span<const Word> scales) {
  std::vector<double> all(elements.size());
  for (std::size_t at = 0; at < all.size(); ++at) {
    all[at] = value_of(type, elements[at]);
    if (scale != Scale::none)
      all[at] *= scale_value(scale, scales[at / static_cast<std::size_t>(block)]);
  }
  return all;
}

// The powers of two that elements are aligned by: a subnormal's is that of the least normal number.
std::vector<double> binades(Type type, Scale scale, int block, std::span<const Word> elements,
                            std::span<const Word> scales) {
  std::vector<double> all(elements.size());
  for (std::size_t at = 0; at < all.size(); ++at) {
    const numerics::Number n = numerics::decode(format_of(type), elements[at]);
    all[at] = n.zero() ? 0 : std::ldexp(1.0, n.exponent);
    if (scale != Scale::none)
      all[at] *= scale_value(scale, scales[at / static_cast<std::size_t>(block)]);
  }
  return all;
}

// Rounded to nearest, ties to even, and the pattern of NaN that the chips have.
Word rounded(Type type, double sum) {
  if (std::isnan(sum)) return static_cast<Word>(format_of(type).nan());
  if (sum == 0) return 0;
  if (type == Type::f32) return std::bit_cast<Word>(static_cast<float>(sum));
  return static_cast<Word>(numerics::encode(format_of(type), sum));
}

void multiply_exactly(const Arithmetic& x, const Factors& f, std::span<Word> d) {
  std::vector<double> c(f.c.size()), sums(d.size());
  for (std::size_t at = 0; at < c.size(); ++at) c[at] = value_of(x.c, f.c[at]);
  exact_sums({x.m, x.n, x.k}, values(x.a, x.scale, x.block, f.a, f.scale_a),
             values(x.b, x.scale, x.block, f.b, f.scale_b), c, sums);
  for (std::size_t at = 0; at < d.size(); ++at) {
    d[at] = rounded(x.d, sums[at]);
    // One place less where rounding has made it greater than it is; never infinite.
    if (x.toward_zero && x.d == Type::f32 && std::isfinite(sums[at]) &&
        std::fabs(std::bit_cast<float>(d[at])) > std::fabs(sums[at]))
      --d[at];
  }
}

// m8n8k4 of f16, which sm_90a emulates: its machine code adds the products in f32 one after
// another, and C at the end.
void multiply_one_by_one(const Arithmetic& x, const Factors& f, std::span<Word> d) {
  const auto n = static_cast<std::size_t>(x.n), k = static_cast<std::size_t>(x.k);
  const auto value = [&](Type type, Word bits) { return static_cast<float>(value_of(type, bits)); };
  for (std::size_t to = 0; to < d.size(); ++to) {
    float sum = value(x.a, f.a[to / n * k]) * value(x.b, f.b[to % n * k]);
    for (std::size_t at = 1; at < k; ++at)
      sum = std::fma(value(x.a, f.a[to / n * k + at]), value(x.b, f.b[to % n * k + at]), sum);
    if (!f.c.empty()) sum += value(x.c, f.c[to]);
    d[to] = rounded(x.d, sum);
  }
}

// The k of one of the sums that follow one another.
std::vector<Word> of_stage(const Arithmetic& x, int stage, std::span<const Word> elements) {
  const auto k = static_cast<std::size_t>(x.k);
  std::vector<Word> some;
  for (std::size_t at = 0; at < elements.size(); ++at)
    if (x.model.stage[at % k] == stage) some.push_back(elements[at]);
  return some;
}

// Sum after sum, each as one of its own; C first or last.
void multiply_in_stages(const Arithmetic& x, const Factors& f, std::span<Word> d) {
  const int stages = *std::ranges::max_element(x.model.stage) + 1;
  std::vector<Word> so_far(f.c.begin(), f.c.end());
  if (x.model.adds_c_last) so_far.assign(d.size(), 0);
  for (int stage = 0; stage < stages; ++stage) {
    Arithmetic one = x;
    one.k = static_cast<int>(std::ranges::count(x.model.stage, stage));
    one.model.stage.assign(static_cast<std::size_t>(one.k), 0);
    one.model.adds_c_last = false;
    multiply(one, {of_stage(x, stage, f.a), of_stage(x, stage, f.b), so_far}, d);
    so_far.assign(d.begin(), d.end());
  }
  if (!x.model.adds_c_last || f.c.empty()) return;
  for (std::size_t at = 0; at < d.size(); ++at)
    d[at] = static_cast<Word>(numerics::add(x.model, d[at], f.c[at]));
}

void multiply_by_model(const Arithmetic& x, const Factors& f, std::span<Word> d) {
  const auto n = static_cast<std::size_t>(x.n), k = static_cast<std::size_t>(x.k);
  std::array<Bits, numerics::kMostProducts> a, b;
  for (std::size_t to = 0; to < d.size(); ++to) {
    for (std::size_t at = 0; at < k; ++at) {
      a[at] = f.a[to / n * k + at];
      b[at] = f.b[to % n * k + at];
    }
    d[to] = static_cast<Word>(numerics::multiply_add(
        x.model, std::span(a).first(k), std::span(b).first(k), f.c.empty() ? 0 : f.c[to]));
  }
}

// Row by row of A, each with its own choice of B's elements.
void multiply_sparse(const Arithmetic& x, const Factors& f, std::span<Word> d) {
  const auto n = static_cast<std::size_t>(x.n), k = static_cast<std::size_t>(x.k);
  const auto scales = static_cast<std::size_t>(x.scales());
  std::vector<Word> chosen(n * k);
  Arithmetic one = x;
  one.m = 1;
  for (std::size_t row = 0; row < static_cast<std::size_t>(x.m); ++row) {
    for (std::size_t column = 0; column < n; ++column)
      for (std::size_t at = 0; at < k; ++at)
        chosen[column * k + at] = f.b[column * 2 * k + f.columns[row * k + at]];
    multiply(one,
             {.a = f.a.subspan(row * k, k),
              .b = chosen,
              .c = f.c.empty() ? f.c : f.c.subspan(row * n, n),
              .scale_a = f.scale_a.empty() ? f.scale_a : f.scale_a.subspan(row * scales, scales),
              .scale_b = f.scale_b},
             d.subspan(row * n, n));
  }
}

}  // namespace

const char* name(Certainty certainty) {
  switch (certainty) {
    case Certainty::measured:
      return "measured";
    case Certainty::inferred:
      return "inferred";
    case Certainty::bounded:
      return "bounded";
  }
  return "";
}

Arithmetic arithmetic_of(const Operation& o) {
  check_types(o);
  Arithmetic x{.a = o.a, .b = o.b, .c = o.c, .d = o.d, .m = o.m, .n = o.n, .k = o.k};
  x.certainty = certainty_of(o);
  x.one_by_one = o.machine == Machine::hopper && o.a == Type::f16 && o.m == 8 && o.n == 8;
  if (x.certainty != Certainty::bounded && !is_integer(o.a) && o.a != Type::f64)
    x.model = hopper_model(o);
  return x;
}

void multiply(const Arithmetic& x, const Factors& f, std::span<Word> d) {
  if (!f.columns.empty()) return multiply_sparse(x, f, d);
  if (is_integer(x.a)) return multiply_integers(x, f, d);
  if (x.a == Type::f64)
    throw Violation("matrix.type", "elements of f64 do not fit in words: use multiply_f64()");
  if (x.one_by_one) return multiply_one_by_one(x, f, d);
  if (x.certainty == Certainty::bounded) return multiply_exactly(x, f, d);
  if (x.model.adds_c_last || std::ranges::count(x.model.stage, 0) < x.k)
    return multiply_in_stages(x, f, d);
  if (x.n % 8 == 0 && has_aligned_sums(x.model, x.k))
    return aligned_sums(x.model, {x.m, x.n, x.k}, f.a, f.b, f.c, d);
  multiply_by_model(x, f, d);
}

void multiply_f64(const Arithmetic& x, std::span<const std::uint64_t> a,
                  std::span<const std::uint64_t> b, std::span<const std::uint64_t> c,
                  std::span<std::uint64_t> d) {
  const auto n = static_cast<std::size_t>(x.n), k = static_cast<std::size_t>(x.k);
  for (std::size_t to = 0; to < d.size(); ++to) {
    double sum = c.empty() ? 0 : std::bit_cast<double>(c[to]);
    for (std::size_t at = 0; at < k; ++at)
      sum = std::fma(std::bit_cast<double>(a[to / n * k + at]),
                     std::bit_cast<double>(b[to % n * k + at]), sum);
    d[to] = std::bit_cast<std::uint64_t>(sum);
  }
}

double error_bound(const Arithmetic& x, const Factors& f, int row, int column) {
  if (x.certainty != Certainty::bounded) return 0;
  const auto k = static_cast<std::size_t>(x.k), blocks = static_cast<std::size_t>(x.scales());
  const auto of = [](std::span<const Word> all, int at, std::size_t size) {
    return all.empty() ? all : all.subspan(static_cast<std::size_t>(at) * size, size);
  };
  const std::vector<double> a =
      binades(x.a, x.scale, x.block, of(f.a, row, k), of(f.scale_a, row, blocks));
  const std::vector<double> b =
      binades(x.b, x.scale, x.block, of(f.b, column, k), of(f.scale_b, column, blocks));
  const std::span<const Word> c =
      f.c.empty() ? f.c : f.c.subspan(static_cast<std::size_t>(row * x.n + column), 1);
  double greatest = c.empty() ? 0 : binades(x.c, Scale::none, 0, c, {})[0];
  for (std::size_t at = 0; at < k; ++at) greatest = std::max(greatest, a[at] * b[at]);
  // The coarsest known: Ada's fp8 keeps 13 bits below the greatest exponent of a sum, and of a
  // result. All others keep 23 at least. A sum of all addends is less than four times as many of
  // the greatest power of two; it may be made in two steps.
  const int kept = is_fp8(x.a) ? 13 : 23, result = std::min(kept, format_of(x.d).fraction_bits);
  const double addends = (static_cast<double>(k) + 1) * greatest;
  return 2 * (std::ldexp(addends, 1 - kept) + std::ldexp(4 * addends, -result)) +
         std::ldexp(1.0, format_of(x.d).least_exponent() - format_of(x.d).fraction_bits);
}

void negate(Type type, std::span<Word> elements) {
  const auto sign = static_cast<Word>(format_of(type).sign_bit());
  for (Word& element : elements) element ^= sign;
}

}  // namespace assay::model::matrix

// SPDX-License-Identifier: Apache-2.0
// Experiments that decide the parameters of an MMA's model one after another.
//
// Most hold two great products that cancel and a small one: what is left shows whether the small
// one was there when the great ones were. Powers of two, and few bits more, so that every value of
// an experiment is exact in all formats.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "probes/numerics/inference.hpp"

namespace assay::numerics {
namespace {

double power(int exponent) { return std::ldexp(1.0, exponent); }

class Experiments {
 public:
  Experiments(const FloatFormat& operand, const FloatFormat& accumulator, int k,
              const Evaluator& run)
      : operand_(operand), accumulator_(accumulator), k_(k), run_(run) {
    f_.model = plain_model(operand, accumulator, k);
    // Exponents of great and small values that the accumulator holds and that are products of
    // normal operands.
    great_ =
        std::min({2 * operand.greatest_exponent() - 2, accumulator.greatest_exponent() - 1, 60});
    small_ = std::max({2 * operand.least_exponent(),
                       accumulator.least_exponent() - accumulator.fraction_bits, -60});
  }

  Findings all() {
    find_order();
    find_products();
    find_fraction_bits();
    find_addend_rounding();
    find_result();
    find_alignment();
    find_subnormals();
    find_overflow();
    find_special_values();
    return std::move(f_);
  }

 private:
  Dot nothing() const {
    const auto k = static_cast<std::size_t>(k_);
    return {std::vector<Bits>(k, 0), std::vector<Bits>(k, 0), 0};
  }
  void set(Dot& dot, int at, double a, double b) const {
    dot.a[static_cast<std::size_t>(at)] = encode(operand_, a);
    dot.b[static_cast<std::size_t>(at)] = encode(operand_, b);
  }
  // A product of this value: few bits times a power of two, shared by the factors.
  void set(Dot& dot, int at, double product) const {
    int exponent = 0;
    const double bits = std::frexp(product, &exponent) * 2;
    const int half = (exponent - 1) / 2;
    set(dot, at, std::ldexp(bits, half), power(exponent - 1 - half));
  }
  Dot with(double c, std::initializer_list<std::pair<int, double>> products) const {
    Dot dot = nothing();
    dot.c = encode(accumulator_, c);
    for (const auto& [at, product] : products) set(dot, at, product);
    return dot;
  }
  Bits bits(const Dot& dot) const { return run_({dot}).front(); }
  double result(const Dot& dot) const { return value(accumulator_, bits(dot)); }
  std::vector<double> results(const std::vector<Dot>& dots) const {
    std::vector<double> values;
    for (const Bits found : run_(dots)) values.push_back(value(accumulator_, found));
    return values;
  }
  void say(const std::string& what, std::string words) { f_.words[what] = std::move(words); }
  // The largest j below `end` for which dot_of(j) yields what it should.
  template <class DotOf, class Good>
  int last_good(int end, const DotOf& dot_of, const Good& good) const {
    std::vector<Dot> dots;
    for (int j = 1; j < end; ++j) dots.push_back(dot_of(j));
    const std::vector<double> found = results(dots);
    int last = 0;
    while (last < end - 1 && good(last + 1, found[static_cast<std::size_t>(last)])) ++last;
    return last;
  }
  // Is a product of this exponent a power of two that both formats hold?
  bool reachable(int exponent) const { return exponent >= small_; }

  void find_order();
  void find_products();
  void find_fraction_bits();
  void find_addend_rounding();
  void find_result();
  void find_alignment();
  void find_subnormals();
  void find_overflow();
  void find_special_values();

  FloatFormat operand_, accumulator_;
  int k_;
  const Evaluator& run_;
  int great_, small_;
  std::vector<int> places_;  // of one stage, its products' places along k
  Findings f_;
};

// A small addend is lost in the stage of the great ones and before it, and survives after it: C and
// a product cancel there. Where C comes last, neighbours i and i ^ 1 cancel instead, taken to be of
// one stage.
void Experiments::find_order() {
  const double great = power(great_), small = power(small_);
  f_.model.adds_c_last = result(with(small, {{0, great}, {1, -great}})) == small;
  say("c", f_.model.adds_c_last ? "added last, rounded to nearest" : "an addend like the products");
  std::vector<Dot> dots;
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < k_; ++i)
    for (int at = 0; at < k_; ++at) {
      if (at == i || (f_.model.adds_c_last && at == (i ^ 1))) continue;
      pairs.emplace_back(i, at);
      dots.push_back(f_.model.adds_c_last ? with(0, {{i, great}, {i ^ 1, -great}, {at, small}})
                                          : with(-great, {{i, great}, {at, small}}));
    }
  const std::vector<double> found = results(dots);
  const auto k = static_cast<std::size_t>(k_);
  f_.survival.assign(k * k, std::nan(""));
  std::vector<int> survivals(k, 0);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const bool survived = found[p] == small;
    const auto [i, at] = pairs[p];
    f_.survival[static_cast<std::size_t>(i) * k + static_cast<std::size_t>(at)] = survived;
    survivals[static_cast<std::size_t>(at)] += survived;
  }
  const std::set<int> distinct(survivals.begin(), survivals.end());
  std::vector<int>& stage = f_.model.stage;
  for (std::size_t at = 0; at < k; ++at)
    stage[at] = static_cast<int>(std::distance(distinct.begin(), distinct.find(survivals[at])));
  f_.ordered = true;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto i = static_cast<std::size_t>(pairs[p].first);
    const auto at = static_cast<std::size_t>(pairs[p].second);
    f_.ordered = f_.ordered && (found[p] == small) == (stage[at] > stage[i]);
  }
  if (!f_.ordered) std::ranges::fill(stage, 0);
  for (int at = 0; at < k_; ++at)
    if (stage[static_cast<std::size_t>(at)] == 0) places_.push_back(at);
}

// The product of two full significands, alone and, where it has more bits than the accumulator,
// with the part that fits taken away.
void Experiments::find_products() {
  bool exact = true;
  std::vector<Dot> dots;
  std::vector<double> expected;
  const int values = 1 << std::min(operand_.fraction_bits, 5);
  const double step = power(-operand_.fraction_bits);
  for (int i = 0; i < values; ++i)
    for (int j = 0; j < values; ++j) {
      const double a = 2 - step * (i + 1), b = 2 - step * (j + 1), product = a * b;
      const double most = value(accumulator_, encode(accumulator_, product));
      Dot dot = with(most == product ? 0 : -most, {});
      set(dot, places_.front(), a, b);
      dots.push_back(dot);
      expected.push_back(most == product ? product : product - most);
    }
  const std::vector<double> found = results(dots);
  for (std::size_t i = 0; i < found.size(); ++i) exact = exact && found[i] == expected[i];
  f_.products_exact = exact;
}

void Experiments::find_fraction_bits() {
  if (places_.size() < 3) return;
  const double great = power(great_);
  const int p = places_[0], q = places_[1], r = places_[2];
  const auto kept = [&](int j, double found) { return found == power(great_ - j); };
  const int end = std::min(great_ - small_, 48) + 1;  // the model adds in 64 bits
  f_.model.fraction_bits = last_good(
      end,
      [&](int j) {
        return with(0, {{p, great}, {q, -great}, {r, power(great_ - j)}});
      },
      kept);
  f_.c_fraction_bits = last_good(
      end,
      [&](int j) {
        return with(power(great_ - j), {{p, great}, {q, -great}});
      },
      kept);
}

void Experiments::find_addend_rounding() {
  if (places_.size() < 3) return;
  const int last = great_ - f_.model.fraction_bits;  // exponent of the last bit kept
  const auto left = [&](double part) {
    const double great = power(great_);
    return result(with(
               0, {{places_[0], great}, {places_[1], -great}, {places_[2], part * power(last)}})) *
           power(-last);
  };
  if (!reachable(last - 1)) return say("addends", "more bits than could be tested");
  const double above = left(0.75), below = left(-0.75);
  f_.model.addend = above == 1    ? Rounding::nearest_even
                    : below == -1 ? Rounding::down
                                  : Rounding::toward_zero;
  say("addends", name(f_.model.addend));
}

// Four equal addends make a sum whose exponent is greater by two: it needs two bits more than were
// kept of a small addend beside one of them.
void Experiments::find_result() {
  const std::size_t equal = f_.model.adds_c_last ? 4 : 3;
  if (places_.size() < equal + 1) return;
  const int base = great_ - 2;  // the exponent of each
  const auto four = [&](double sign, double more) {
    Dot dot = with(f_.model.adds_c_last ? 0 : sign * power(base),
                   {{places_[equal], sign * more * power(base)}});
    for (std::size_t i = 0; i < equal; ++i) set(dot, places_[i], sign * power(base));
    return dot;
  };
  const int end = base - small_ + 1;
  const int visible = last_good(
      end, [&](int j) { return four(1, power(-j)); },
      [&](int, double found) { return found > 4 * power(base); });
  const int f = f_.model.fraction_bits;
  int& kept = f_.model.result.fraction_bits;
  if (visible < std::min(f, end - 1)) kept = std::min(visible + 2, kept);
  const double unit = power(2 - kept);
  if (kept > f + 1 || !reachable(base + 1 - kept))
    return say("results", "exact in these experiments");
  const double above = result(four(1, 1.5 * unit)) * power(-base);
  const double below = result(four(-1, 1.5 * unit)) * power(-base);
  f_.model.result.rounding = above == 4 + 2 * unit      ? Rounding::nearest_even
                             : below == -(4 + 2 * unit) ? Rounding::down
                                                        : Rounding::toward_zero;
  say("results", name(f_.model.result.rounding));
}

// By what exponent a product is aligned: that of 1.5 * 1.5 is 0 before and 1 after normalization,
// and a zero has the least exponent or none.
void Experiments::find_alignment() {
  if (places_.size() < 3) return;
  const int f = f_.model.fraction_bits;
  const int p = places_[0], q = places_[1], r = places_[2];
  const auto survives = [&](double a, double b, bool cancel, int last) {
    Dot dot = with(0, {{r, power(last)}});
    set(dot, p, a, b);
    if (cancel) set(dot, q, -a, b);
    return result(dot) == power(last);
  };
  const int half = great_ / 2 - 1;
  if (reachable(2 * half - f)) {
    f_.model.normalizes_products =
        !survives(1.5 * power(half), 1.5 * power(half), true, 2 * half - f);
    say("alignment", f_.model.normalizes_products ? "by the products' exponents"
                                                  : "by the sums of the factors' exponents");
  }
  const int zero = operand_.least_exponent() + operand_.greatest_exponent();
  if (reachable(zero - f - 1))
    f_.model.zeros_count = !survives(0, power(operand_.greatest_exponent()), false, zero - f - 1);
}

void Experiments::find_subnormals() {
  const int least = operand_.least_exponent() - operand_.fraction_bits;
  const int other = operand_.greatest_exponent();
  Dot dot = nothing();
  set(dot, places_[0], power(least), power(other));
  f_.model.keeps_subnormal_inputs = result(dot) == power(least + other);
  say("subnormal_inputs", f_.model.keeps_subnormal_inputs ? "kept" : "flushed to zero");

  const int low = accumulator_.least_exponent() - 4;
  const bool kept_c = result(with(power(low), {})) == power(low);
  say("subnormal_c", kept_c ? "kept" : "flushed to zero");
  if (low >= 2 * operand_.least_exponent()) {
    const bool kept = result(with(0, {{places_[0], power(low)}})) == power(low);
    say("subnormal_results", kept ? "kept" : "flushed to zero");
  }
  // Half of the least number: what becomes of its sign?
  const int half = accumulator_.least_exponent() - accumulator_.fraction_bits - 1;
  if (half >= 2 * operand_.least_exponent())
    f_.model.result.underflow_keeps_sign =
        bits(with(0, {{places_[0], -power(half)}})) == accumulator_.sign_bit();

  const int nominal = operand_.least_exponent() + other,
            last = nominal - f_.model.fraction_bits - 1;
  if (places_.size() < 3 || !reachable(last) || !f_.model.keeps_subnormal_inputs) return;
  dot = with(0, {{places_[2], power(last)}});
  set(dot, places_[0], power(least), power(other));
  set(dot, places_[1], -power(least), power(other));
  f_.model.normalizes_subnormals = result(dot) == power(last);
}

void Experiments::find_overflow() {
  const int top = accumulator_.greatest_exponent();
  if (top > 2 * operand_.greatest_exponent()) return say("overflow", "out of reach of products");
  const double greatest = power(top);
  const std::size_t second = places_.size() > 1 ? 1 : 0;
  const double sum = result(with(greatest, {{places_[0], greatest}}));
  f_.model.result.overflow_to_infinity = std::isinf(sum);
  say("overflow", std::isinf(sum) ? "infinity" : "greatest finite number");
  if (second == 0 || f_.model.adds_c_last) return;
  const bool wide =
      result(with(greatest, {{places_[0], greatest}, {places_[1], -greatest}})) == greatest;
  say("overflow_within_a_sum", wide ? "harmless" : "overflows");
}

void Experiments::find_special_values() {
  const auto hex = [&](Bits found) {
    return fmt::format("{:#0{}x}", found, accumulator_.name == "f16" ? 6 : 10);
  };
  Dot dot = nothing();
  dot.a[0] = operand_.nan() - (operand_.infinities ? Bits{1} << operand_.unused_bits : 0);
  dot.b[0] = encode(operand_, 1);
  f_.model.nan = bits(dot);
  say("nan", hex(f_.model.nan));
  dot = nothing();
  dot.c = accumulator_.infinity() | 1;  // a signalling NaN with a payload
  say("nan_of_c", hex(bits(dot)));
  if (operand_.infinities) {
    dot = nothing();
    dot.a[0] = operand_.infinity();
    dot.b[0] = 0;
    say("infinity_times_zero", hex(bits(dot)));
  }
  const auto zeros = [&](double c, double b) {
    dot = nothing();
    for (int at = 0; at < k_; ++at) set(dot, at, 0, b);
    dot.c = encode(accumulator_, c);
    return bits(dot) == accumulator_.sign_bit();
  };
  if (operand_.unused_bits > 0) {
    dot = with(0, {{0, 1}});
    dot.a[0] |= (Bits{1} << operand_.unused_bits) - 1;
    say("low_bits_of_operands", result(dot) == 1 ? "ignored" : "used");
  }
  f_.model.keeps_negative_zero = zeros(-0.0, -1);
  say("zero", std::string(f_.model.keeps_negative_zero ? "-0" : "+0") +
                  " of negative zeros alone, " + (zeros(-0.0, 1) || zeros(0.0, -1) ? "-0" : "+0") +
                  " of mixed signs");
}

}  // namespace

Findings experiment(const FloatFormat& operand, const FloatFormat& accumulator, int k,
                    const Evaluator& run) {
  return Experiments(operand, accumulator, k, run).all();
}

std::string describe(const MmaModel& m) {
  const int stages = *std::ranges::max_element(m.stage) + 1;
  const auto size = m.stage.size() / static_cast<std::size_t>(stages);
  const std::string together = m.adds_c_last ? "" : " and the sum so far";
  return fmt::format(
      "{}{} products{} added at once, {} fraction bits of each, {}; the result keeps "
      "{}, {}{}",
      stages > 1 ? fmt::format("{} times ", stages) : "", size, together, m.fraction_bits,
      name(m.addend), m.result.fraction_bits, name(m.result.rounding),
      m.adds_c_last ? "; C is added last" : "");
}

}  // namespace assay::numerics

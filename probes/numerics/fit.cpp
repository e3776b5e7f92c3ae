// SPDX-License-Identifier: Apache-2.0
// Random dot products, and the search for the model that explains their results best.
#include <algorithm>
#include <cmath>
#include <random>

#include "probes/numerics/inference.hpp"

namespace assay::numerics {
namespace {

class Generator {
 public:
  Generator(const FloatFormat& operand, const FloatFormat& accumulator, int k, std::uint64_t seed)
      : operand_(operand), accumulator_(accumulator), k_(k), random_(seed) {}

  Dot dot(Data data);

 private:
  int between(int low, int high) {
    return std::uniform_int_distribution<int>(low, std::max(low, high))(random_);
  }
  bool one_in(int n) { return between(1, n) == 1; }
  // Any sign and fraction; subnormal or zero below the least exponent, the greatest above it.
  Bits number(const FloatFormat& format, int exponent) {
    const Bits fraction = random_() & ((Bits{1} << format.fraction_bits) - 1);
    const int field =
        std::clamp(exponent + format.bias(), 0, format.greatest_exponent() + format.bias());
    const Bits bits = (static_cast<Bits>(field) << format.fraction_bits | fraction)
                      << format.unused_bits;
    return std::min(bits, format.greatest()) | (one_in(2) ? format.sign_bit() : 0);
  }
  struct Range {
    int low, high;  // exponents of operands
  };
  Range range(Data data);
  void cancel(Dot& dot);
  void spoil(Dot& dot);

  FloatFormat operand_, accumulator_;
  int k_;
  std::mt19937_64 random_;
};

Generator::Range Generator::range(Data data) {
  const int least = operand_.least_exponent(), most = operand_.greatest_exponent();
  const int floor = least - operand_.fraction_bits;
  switch (data) {
    case Data::tiny: {  // products about the accumulator's least number
      const int middle = std::max(floor, accumulator_.least_exponent() / 2 - between(0, 12));
      return {middle, middle + between(0, 10)};
    }
    case Data::huge: {  // ... about its greatest
      const int middle = std::min(most, accumulator_.greatest_exponent() / 2 - between(0, 2));
      return {middle - 2, std::min(most, middle + 1)};
    }
    case Data::spread: {
      if (operand_.exponent_bits < 8) return {floor, most};
      const int middle = between(-45, 45);
      return {middle - 15, middle + 15};
    }
    default: {
      const int middle = between(std::max(least, -4), 0);
      return {middle - 1, middle};
    }
  }
}

// Products that another takes away again, wherever along k the two are, and C that takes one away.
void Generator::cancel(Dot& dot) {
  std::vector<std::size_t> places(static_cast<std::size_t>(k_));
  for (std::size_t at = 0; at < places.size(); ++at) places[at] = at;
  std::ranges::shuffle(places, random_);
  for (std::size_t pair = 0; pair + 1 < places.size(); pair += 2) {
    if (one_in(4)) continue;
    dot.a[places[pair]] = dot.a[places[pair + 1]] ^ operand_.sign_bit();
    dot.b[places[pair]] = dot.b[places[pair + 1]];
  }
  if (one_in(2)) return;
  const double product = value(operand_, dot.a[places[0]]) * value(operand_, dot.b[places[0]]);
  dot.c = encode(accumulator_, -product);
}

void Generator::spoil(Dot& dot) {
  const Bits odd[] = {operand_.infinity(), operand_.infinity() | operand_.sign_bit(),
                      operand_.nan(), 0};
  for (int i = between(0, 2); i > 0; --i)
    dot.a[static_cast<std::size_t>(between(0, k_ - 1))] = odd[between(0, 3)];
  if (one_in(3)) dot.b[static_cast<std::size_t>(between(0, k_ - 1))] = odd[between(0, 3)];
  if (one_in(4)) dot.c = accumulator_.infinity() | (one_in(2) ? accumulator_.sign_bit() : 0);
  if (one_in(8)) dot.c = accumulator_.nan();
}

Dot Generator::dot(Data data) {
  const auto k = static_cast<std::size_t>(k_);
  Dot dot{std::vector<Bits>(k), std::vector<Bits>(k), 0};
  const Range of_a = range(data), of_b = data == Data::spread ? range(data) : of_a;
  for (std::size_t at = 0; at < k; ++at) {
    dot.a[at] = one_in(24) ? 0 : number(operand_, between(of_a.low, of_a.high));
    dot.b[at] = one_in(24) ? 0 : number(operand_, between(of_b.low, of_b.high));
    if (one_in(32)) dot.a[at] = number(operand_, operand_.least_exponent() - 1);
  }
  const int top = of_a.high + of_b.high;
  if (!one_in(8)) dot.c = number(accumulator_, between(top - 30, top + 4));
  if (data == Data::cancelling) cancel(dot);
  if (data == Data::special) spoil(dot);
  return dot;
}

// Every model that differs from `m` in one parameter.
std::vector<MmaModel> neighbours(const MmaModel& m) {
  std::vector<MmaModel> all;
  const auto vary = [&](auto change) {
    MmaModel other = m;
    change(other);
    all.push_back(std::move(other));
  };
  for (int bits = std::max(1, m.fraction_bits - 4); bits <= m.fraction_bits + 4; ++bits)
    vary([&](MmaModel& o) { o.fraction_bits = bits; });
  for (const int bits : {m.accumulator.fraction_bits, m.fraction_bits, m.fraction_bits - 1})
    if (bits > 0 && bits <= m.accumulator.fraction_bits)
      vary([&](MmaModel& o) { o.result.fraction_bits = bits; });
  for (const Rounding rounding : {Rounding::toward_zero, Rounding::nearest_even, Rounding::down}) {
    vary([&](MmaModel& o) { o.addend = rounding; });
    vary([&](MmaModel& o) { o.result.rounding = rounding; });
  }
  const auto k = static_cast<int>(m.stage.size());
  for (int size = 1; size <= k; size *= 2)
    vary([&](MmaModel& o) {
      for (int at = 0; at < k; ++at) o.stage[static_cast<std::size_t>(at)] = at / size;
    });
  for (const int least : {-1000, 2 * m.a.least_exponent(), -126, -14})
    vary([&](MmaModel& o) { o.least_exponent = least; });
  vary([](MmaModel& o) { o.adds_c_last = !o.adds_c_last; });
  vary([](MmaModel& o) { o.normalizes_products = !o.normalizes_products; });
  vary([](MmaModel& o) { o.normalizes_subnormals = !o.normalizes_subnormals; });
  vary([](MmaModel& o) { o.zeros_count = !o.zeros_count; });
  vary([](MmaModel& o) { o.keeps_subnormal_inputs = !o.keeps_subnormal_inputs; });
  vary([](MmaModel& o) { o.keeps_negative_zero = !o.keeps_negative_zero; });
  vary([](MmaModel& o) { o.result.overflow_to_infinity = !o.result.overflow_to_infinity; });
  vary([](MmaModel& o) { o.result.underflow_keeps_sign = !o.result.underflow_keeps_sign; });
  return all;
}

}  // namespace

const char* name(Data data) {
  switch (data) {
    case Data::similar:
      return "similar";
    case Data::spread:
      return "spread";
    case Data::cancelling:
      return "cancelling";
    case Data::tiny:
      return "tiny";
    case Data::huge:
      return "huge";
    case Data::special:
      return "special";
  }
  return "";
}

std::vector<Dot> random_dots(const FloatFormat& operand, const FloatFormat& accumulator, int k,
                             Data data, std::size_t count, std::uint64_t seed) {
  Generator generator(operand, accumulator, k, seed + static_cast<std::uint64_t>(data));
  std::vector<Dot> dots;
  for (std::size_t i = 0; i < count; ++i) dots.push_back(generator.dot(data));
  return dots;
}

MmaModel fitted(const MmaModel& start, const std::vector<Dot>& dots,
                const std::vector<Bits>& found) {
  MmaModel best = start;
  double share = agreement(best, dots, found);
  for (bool better = true; better && share < 1;) {
    better = false;
    for (MmaModel& other : neighbours(best)) {
      const double other_share = agreement(other, dots, found);
      if (other_share <= share) continue;
      best = std::move(other);
      share = other_share;
      better = true;
      break;
    }
  }
  return best;
}

}  // namespace assay::numerics

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "probes/numerics/accumulate.hpp"

namespace assay::numerics {
namespace {

constexpr int kRandomDots = 4000;

Bits bits_of(double value) { return std::bit_cast<Bits>(value); }
double value_of(Bits bits) { return std::bit_cast<double>(bits); }

Dot zero_dot(int k) {
  const auto count = static_cast<std::size_t>(k);
  return {std::vector<Bits>(count, 0), std::vector<Bits>(count, 0), 0};
}

class F64 {
 public:
  F64(State& s, int k, const MmaRunner& runner) : s_(s), k_(k), runner_(runner) {}

  void measure() {
    const std::vector<int> order = find_order();
    const double least = std::numeric_limits<double>::denorm_min();
    const double near_one = 1 + 0x1p-52;
    // What the product has beyond 53 bits is there only if it was not rounded.
    const bool fused = result(-(near_one * near_one), near_one, near_one) == 0x1p-104;
    const bool nearest = result(1, 0x1.8p-53, 1) == near_one;
    s_.set_param("multiply_add", fused ? "fused" : "product rounded first");
    s_.set_param("results", nearest ? "rounded to nearest" : "truncated");
    s_.set_param("subnormal_c", result(least, 0, 0) == least ? "kept" : "flushed to zero");
    s_.set_param("subnormal_results",
                 result(0, 0x1p-537, 0x1p-537) == least ? "kept" : "flushed to zero");
    compare(order, fused);
    int kept = 0;
    while (kept < 120 && result(1, std::ldexp(1, -kept - 1), 1) != 1) ++kept;
    s_.add_exact("accumulator_fraction_bits", "bit", Better::higher, kept);
    s_.add_exact("products_exact", "", Better::higher, fused);
  }

 private:
  double result(double c, double a, double b) const {
    Dot dot = zero_dot(k_);
    dot.c = bits_of(c);
    dot.a[0] = bits_of(a);
    dot.b[0] = bits_of(b);
    return value_of(runner_.dots({dot}).front());
  }

  // A small product survives C and a great one that cancel if it comes after them: the later, the
  // more often.
  std::vector<int> find_order() {
    const auto k = static_cast<std::size_t>(k_);
    std::vector<Dot> dots;
    for (std::size_t great = 0; great < k; ++great)
      for (std::size_t small = 0; small < k; ++small) {
        Dot& dot = dots.emplace_back(zero_dot(k_));
        dot.c = bits_of(-0x1p200);
        dot.a[small] = dot.b[small] = bits_of(0x1p-100);
        dot.a[great] = dot.b[great] = bits_of(0x1p100);
      }
    const std::vector<Bits> found = runner_.dots(dots);
    std::vector<double> survival(k * k, std::nan(""));
    std::vector<int> survivals(k, 0);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i / k == i % k) continue;
      survival[i] = value_of(found[i]) == 0x1p-200;
      survivals[i % k] += survival[i] == 1;
    }
    s_.add_series(survival_series(k_, std::move(survival)));
    std::vector<int> order(k);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {},
                             [&](int at) { return survivals[static_cast<std::size_t>(at)]; });
    s_.set_param("order", fmt::format("one after another, k = {}", fmt::join(order, " ")));
    return order;
  }

  static Bits predicted(const Dot& dot, const std::vector<int>& order, bool fused) {
    double sum = value_of(dot.c);
    for (const int at : order) {
      const double a = value_of(dot.a[static_cast<std::size_t>(at)]);
      const double b = value_of(dot.b[static_cast<std::size_t>(at)]);
      const volatile double product = a * b;  // keeps the compiler from fusing
      sum = fused ? std::fma(a, b, sum) : product + sum;
    }
    return bits_of(sum);
  }

  void compare(const std::vector<int>& order, bool fused) {
    std::mt19937_64 random(s_.seed());
    std::uniform_int_distribution<int> exponent(-30, 30), kind(0, 3);
    std::uniform_real_distribution<double> fraction(-2, 2);
    const auto number = [&] { return std::ldexp(fraction(random), exponent(random)); };
    std::vector<Dot> dots;
    for (int i = 0; i < kRandomDots; ++i) {
      Dot& dot = dots.emplace_back(zero_dot(k_));
      for (std::size_t at = 0; at < dot.a.size(); ++at) {
        dot.a[at] = bits_of(number());
        dot.b[at] = bits_of(number());
        if (at == 0 || kind(random) > 0) continue;  // takes away the one before
        dot.a[at] = bits_of(-value_of(dot.a[at - 1]));
        dot.b[at] = dot.b[at - 1];
      }
      dot.c = bits_of(number());
    }
    const std::vector<Bits> found = runner_.dots(dots);
    int same = 0;
    for (std::size_t i = 0; i < dots.size(); ++i) {
      const Bits expected = predicted(dots[i], order, fused);
      same += expected == found[i];
      if (expected != found[i] && same == static_cast<int>(i))
        s_.set_param("first_disagreement",
                     fmt::format("{:#x}, by the model {:#x}", found[i], expected));
    }
    s_.add_exact("model_agreement", "", Better::higher, static_cast<double>(same) / kRandomDots);
    s_.set_param("finding",
                 fmt::format("{} multiply-adds one after another", fused ? "fused" : "unfused"));
  }

  State& s_;
  int k_;
  const MmaRunner& runner_;
};

}  // namespace

void measure_f64(State& s, const MmaInstruction& instruction, const MmaRunner& runner) {
  F64(s, instruction.k, runner).measure();
}

void measure_s8(State& s, const MmaInstruction& instruction, const MmaRunner& runner) {
  std::mt19937_64 random(s.seed());
  std::uniform_int_distribution<int> element(-128, 127), kind(0, 2);
  constexpr std::int64_t kMost = INT32_MAX, kLeast = INT32_MIN;
  std::vector<Dot> dots;
  std::vector<std::int64_t> sums;
  for (int i = 0; i < kRandomDots; ++i) {
    Dot& dot = dots.emplace_back(zero_dot(instruction.k));
    const int what = kind(random);
    const std::int64_t c = what == 0   ? element(random)
                           : what == 1 ? kMost - 1000 * element(random) - 128'000
                                       : kLeast - 1000 * element(random) + 127'000;
    std::int64_t sum = c;
    for (std::size_t at = 0; at < dot.a.size(); ++at) {
      const int a = element(random), b = element(random);
      dot.a[at] = static_cast<std::uint8_t>(a);
      dot.b[at] = static_cast<std::uint8_t>(b);
      sum += a * b;
    }
    dot.c = static_cast<std::uint32_t>(c);
    sums.push_back(sum);
  }
  const std::vector<Bits> found = runner.dots(dots);
  int wrapping = 0, saturating = 0;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    wrapping += found[i] == static_cast<std::uint32_t>(sums[i]);
    saturating += found[i] == static_cast<std::uint32_t>(std::clamp(sums[i], kLeast, kMost));
  }
  const bool wraps = wrapping >= saturating;
  s.add_exact("model_agreement", "", Better::higher,
              static_cast<double>(std::max(wrapping, saturating)) / kRandomDots);
  s.add_exact("products_exact", "", Better::higher, std::max(wrapping, saturating) == kRandomDots);
  s.set_param("overflow", wraps ? "wraps round" : "saturates");
  s.set_param("finding",
              fmt::format("exact, {} past 32 bits", wraps ? "wraps round" : "saturates"));
}

}  // namespace assay::numerics

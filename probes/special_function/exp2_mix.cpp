// SPDX-License-Identifier: Apache-2.0
// The best mix of the special function unit and the FMA pipe for softmax's 2^x.
//
// A warp-wide MUFU.EX2 occupies a scheduler's special function unit for 8 cycles but one issue slot
// of the 8; a polynomial of degree d is d FFMA, three FADD, a maximum and the addition to the
// exponent. Counting slots alone, with x of the elements by polynomial and F = 1 for softmax's
// scale and maximum, a result takes max(8 (1 - x), (1 - x) + (5 + d) x + F) cycles of a scheduler:
// least where both are equal, at x = (7 - F) / (12 + d), 2.0 times MUFU alone for d = 3 and F = 0.
// The sweep over x shows what of that the pipes allow.
#include "probes/special_function/exp2_mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "harness/limits.hpp"
#include "probes/special_function/exp2_polynomial.hpp"

namespace assay {
namespace {

constexpr double kScale = -0.75, kOffset = -0.25;  // 2^(-3/4 x - 1/4) attracts to 0.581

std::string float_bits(float value) {
  return fmt::format("0f{:08X}", std::bit_cast<std::uint32_t>(value));
}

std::vector<float> coefficients(int degree) {
  const auto list = [](const auto& c) { return std::vector<float>(c.begin(), c.end()); };
  using namespace exp2_polynomial;
  return degree == 3   ? list(kCoefficients<3>)
         : degree == 4 ? list(kCoefficients<4>)
                       : list(kCoefficients<5>);
}

double polynomial(int degree, float x) {
  using namespace exp2_polynomial;
  return degree == 3 ? evaluate<3>(x) : degree == 4 ? evaluate<4>(x) : evaluate<5>(x);
}

// exp2_polynomial::evaluate() on register `d`.
std::string polynomial_ptx(int degree, const std::string& d) {
  using namespace exp2_polynomial;
  const std::vector<float> c = coefficients(degree);
  std::string text = fmt::format(
      "{{ .reg .f32 %s, %f, %p; .reg .b32 %i, %b; max.ftz.f32 {0}, {0}, {1}; "
      "add.rm.ftz.f32 %s, {0}, {2}; sub.rn.ftz.f32 %f, %s, {2}; sub.rn.ftz.f32 %f, {0}, %f; "
      "mov.f32 %p, {3}; ",
      d, float_bits(kLowest), float_bits(kMagic), float_bits(c.back()));
  for (int k = degree - 2; k >= 0; --k)
    text +=
        fmt::format("fma.rn.ftz.f32 %p, %p, %f, {}; ", float_bits(c[static_cast<std::size_t>(k)]));
  return text + fmt::format(
                    "fma.rn.ftz.f32 %p, %p, %f, {}; mov.b32 %i, %s; mov.b32 %b, %p; "
                    "shl.b32 %i, %i, 23; add.s32 %b, %b, %i; mov.b32 {}, %b; }} ",
                    float_bits(1), d);
}

// Whether element i is one of `polynomials` that are spread evenly over the 16.
bool by_polynomial(int i, int polynomials) {
  return (i + 1) * polynomials / kMixElements > i * polynomials / kMixElements;
}

}  // namespace

InstructionRow exp2_mix_row(int degree, int polynomials, Argument argument) {
  const bool scaled = argument == Argument::scaled;
  InstructionRow row{.name = exp2_mix_entry(polynomials, argument),
                     .chain = {"d", "f32", "f32", kMixElements},
                     .inputs = {{"a", "f32", "f32"}, {"b", "f32", "f32"}},
                     .step =
                         [=](double d, double a, double b, int i) {
                           const double x = scaled ? d * a + b : -d;
                           return by_polynomial(i, polynomials)
                                      ? polynomial(degree, static_cast<float>(x))
                                      : std::exp2(x);
                         },
                     .a = kScale,
                     .b = kOffset,
                     .tolerance = 1e-5,
                     .sass =
                         [=](Target) {
                           const int mufu = kMixElements - polynomials;
                           const int ffma = polynomials * degree + (scaled ? kMixElements : 0);
                           return std::vector<SassRule>{{"MUFU.EX2", mufu, mufu},
                                                        {"FFMA", ffma, ffma},
                                                        {"FADD", 3 * polynomials, 3 * polynomials}};
                         }};
  for (int i = 0; i < kMixElements; ++i) {
    row.ptx += scaled ? fmt::format("fma.rn.ftz.f32 <d.{0}>, <d.{0}>, <a>, <b>; ", i)
                      : fmt::format("neg.f32 <d.{0}>, <d.{0}>; ", i);
    const std::string d = fmt::format("<d.{}>", i);
    row.ptx += by_polynomial(i, polynomials) ? polynomial_ptx(degree, d)
                                             : fmt::format("ex2.approx.ftz.f32 {0}, {0}; ", d);
  }
  return row;
}

std::string exp2_mix_entry(int polynomials, Argument argument) {
  return fmt::format("{}_{}_of_{}", argument == Argument::scaled ? "scaled" : "negated",
                     polynomials, kMixElements);
}

namespace {

// Numbers of elements by polynomial that are tried.
constexpr int kFractions[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16};
constexpr Argument kArguments[] = {Argument::scaled, Argument::negated};

int degree_of(const Case& c) { return static_cast<int>(c.i64("degree")); }

std::vector<KernelUse> kernels(const Case& c, Target target) {
  std::vector<KernelUse> uses;
  for (const Argument argument : kArguments)
    for (const int n : kFractions)
      uses.push_back(row_kernel(exp2_mix_row(degree_of(c), n, argument), kMixShape,
                                exp2_mix_entry(n, argument), target));
  return uses;
}

void run(State& s) {
  const auto prepared = [&](int n, Argument argument) {
    return prepare_row(s, exp2_mix_row(degree_of(s.which()), n, argument), kMixShape,
                       exp2_mix_entry(n, argument));
  };
  Series series{.name = "results_per_clock_per_sm",
                .unit = "op/clk/SM",
                .axes = {{"argument", {"scaled", "negated"}}, {"polynomial_sixteenths", {}}}};
  for (const int n : kFractions) series.axes[1].points.emplace_back(std::int64_t{n});
  for (const Argument argument : kArguments)
    for (const int n : kFractions) series.add(kMixResults / s.cycles_once(prepared(n, argument)));

  const auto middle = series.values.begin() + std::size(kFractions);
  const auto fastest = [&](auto begin, auto end) {
    return kFractions[std::max_element(begin, end) - begin];
  };
  const int best = fastest(series.values.begin(), middle);
  // The rate that attention could have leads: with its multiply-add.
  const std::vector<double> mixed =
      s.cycles({.ops = kMixResults}, prepared(best, Argument::scaled));
  const double mufu = kMixResults / series.values.front();
  std::vector<double> speedup;
  for (const double cycles : mixed) speedup.push_back(mufu / cycles);
  s.add_metric("speedup_over_mufu", "", Better::higher, speedup);
  s.add_exact("polynomial_results_per_clock_per_sm", "op/clk/SM", Better::higher, *(middle - 1));
  s.record_kernel(exp2_mix_entry(best, Argument::scaled));
  s.set_param("best_polynomial_sixteenths", std::int64_t{best});
  s.set_param("best_polynomial_sixteenths_negated",
              std::int64_t{fastest(middle, series.values.end())});
  s.add_series(std::move(series));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (std::int64_t degree = exp2_polynomial::kLowestDegree;
       degree <= exp2_polynomial::kHighestDegree; ++degree)
    all.push_back({.name = fmt::format("degree{}", degree),
                   .params = {{"degree", degree}, {"state", "burst"}},
                   .suite = degree == 3 ? Suite::quick : Suite::full});
  return all;
}

const Registration registration{{
    .name = "special_function/exp2_polynomial_mix",
    .question = "Which share of softmax's 2^x should a polynomial on the FMA pipe compute beside "
                "MUFU.EX2, and how many results per clock are that?",
    .metrics =
        {{"ops_per_clock_per_sm",
          "Results of one SM in a cycle at the best mix, softmax's multiply-add included."},
         {"results_per_clock_per_sm",
          "Results of one SM in a cycle, by the share of elements that the polynomial computes."},
         {"speedup_over_mufu",
          "Rate of the best mix over that of MUFU.EX2 alone, with softmax's multiply-add."},
         {"polynomial_results_per_clock_per_sm",
          "Results of one SM in a cycle by the polynomial alone, with softmax's multiply-add."}},
    .cases = cases(),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
}  // namespace assay

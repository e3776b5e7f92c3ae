// SPDX-License-Identifier: Apache-2.0
// How an MMA adds its products: the model that predicts its results bit for bit.
//
// inference.hpp finds the model by experiments on single MMAs, all of whose rows and columns hold
// the same dot product; then thousands of random ones are predicted. Nothing is expected of the
// hardware but that equal dot products have equal results: what it does is the finding.
//
// Parameters say in words what the metrics count: `finding` (all in a sentence), `c`, `addends`,
// `results`, `alignment`, `alignment_of_zeros`, `least_alignment` (the least exponent that addends
// are aligned to), `subnormal_inputs`, `subnormal_c`, `subnormal_results`, `underflow`, `overflow`,
// `overflow_within_a_sum`, `nan`, `nan_of_c`, `infinity_times_zero`, `zero`,
// `low_bits_of_operands`, `order`, `fit`, and `first_disagreement` if there is one.
#include "probes/numerics/accumulate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "probes/numerics/inference.hpp"

namespace assay::numerics {
namespace {

// Of each kind of random data: fitted to, in rounds, each of which may show a rarer disagreement;
// and compared with in the end.
constexpr std::size_t kTraining = 200, kFresh = 700;
constexpr std::uint64_t kRounds = 5;

std::vector<MmaInstruction> instructions() {
  std::vector<MmaInstruction> all;
  struct Type {
    const char *element, *accumulator;
    int k;
  };
  for (const Type& type : {Type{"f16", "f32", 16},
                           {"f16", "f16", 16},
                           {"bf16", "f32", 16},
                           {"tf32", "f32", 8},
                           {"e4m3", "f32", 32},
                           {"e5m2", "f32", 32},
                           {"e4m3", "f16", 32},
                           {"e5m2", "f16", 32},
                           {"s8", "s32", 32}}) {
    all.push_back({Family::mma_sync, type.element, type.accumulator, 16, 8, type.k});
    all.push_back({Family::wgmma, type.element, type.accumulator, 64, 8, type.k, false});
    if (type.accumulator == std::string("f16")) continue;
    all.push_back({Family::tcgen05, type.element, type.accumulator, 128, 16, type.k, false});
  }
  all.push_back({Family::mma_sync, "f64", "f64", 16, 8, 16});
  return all;
}

const MmaInstruction& instruction_of(const Case& c) {
  static const std::vector<MmaInstruction> all = instructions();
  for (const MmaInstruction& instruction : all)
    if (instruction.type_name() == c.name) return instruction;
  throw std::logic_error("a case of an unknown instruction");
}

struct Trial {
  std::vector<Dot> dots;
  std::vector<Bits> found;
};

class Measurement {
 public:
  Measurement(State& s, const MmaInstruction& instruction, const MmaRunner& runner)
      : s_(s),
        operand_(float_format(instruction.element)),
        accumulator_(float_format(instruction.accumulator)),
        k_(instruction.k),
        run_([&runner](const std::vector<Dot>& dots) { return runner.dots(dots); }) {}

  void measure() {
    const Findings f = experiment(operand_, accumulator_, k_, run_);
    const MmaModel model = fit(f.model);
    compare(model);
    const auto exact = [&](const char* name, const char* unit, double value) {
      s_.add_exact(name, unit, Better::higher, value);
    };
    const int sums = *std::ranges::max_element(model.stage) + 1;
    exact("accumulator_fraction_bits", "bit", model.fraction_bits);
    exact("c_fraction_bits", "bit", f.c_fraction_bits);
    exact("result_fraction_bits", "bit", model.result.fraction_bits);
    exact("guard_bits", "bit", model.fraction_bits - model.result.fraction_bits);
    exact("products_per_sum", "", static_cast<double>(std::ranges::count(model.stage, 0)));
    exact("sums", "", sums);
    exact("products_exact", "", f.products_exact);
    s_.add_series(survival_series(k_, f.survival));
    for (const auto& [what, words] : f.words) s_.set_param(what, words);
    s_.set_param("finding", describe(model));
    s_.set_param("alignment_of_zeros",
                 model.zeros_count ? "by the sum of the factors' exponents" : "none");
    s_.set_param("least_alignment", model.least_exponent <= 2 * operand_.least_exponent()
                                        ? std::string("none")
                                        : fmt::format("exponent {}", model.least_exponent));
    s_.set_param("underflow",
                 model.result.underflow_keeps_sign ? "zero of its sign" : "positive zero");
    s_.set_param("order", !f.ordered ? std::string("no chain of sums explains what survives")
                          : sums == 1
                              ? std::string("all products at once")
                              : fmt::format("sum of each k: {}", fmt::join(model.stage, " ")));
  }

 private:
  Trial trial(Data data, std::size_t count, std::uint64_t salt) const {
    Trial trial{random_dots(operand_, accumulator_, k_, data, count, s_.seed() + salt), {}};
    trial.found = run_(trial.dots);
    return trial;
  }

  // The experiments' model, adjusted where random data show another to be nearer.
  MmaModel fit(const MmaModel& start) {
    MmaModel model = start;
    Trial all;
    bool enough = true;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      for (const Data data : kAllData) {
        const Trial some = trial(data, kTraining, round);
        all.dots.insert(all.dots.end(), some.dots.begin(), some.dots.end());
        all.found.insert(all.found.end(), some.found.begin(), some.found.end());
      }
      if (agreement(model, all.dots, all.found) == 1) continue;
      enough = false;
      model = fitted(model, all.dots, all.found);
    }
    s_.set_param("fit", enough ? "the experiments' model as it is" : "adjusted to random data");
    return model;
  }

  void compare(const MmaModel& model) {
    Series series{.name = "agreement", .unit = "", .axes = {{"data", {}}}, .values = {}};
    double sum = 0;
    bool disagreed = false;
    for (const Data data : kAllData) {
      const Trial fresh = trial(data, kFresh, 1000);
      series.axes[0].points.emplace_back(name(data));
      series.values.push_back(agreement(model, fresh.dots, fresh.found));
      sum += series.values.back();
      for (std::size_t i = 0; i < kFresh && !disagreed; ++i) {
        const Bits expected = multiply_add(model, fresh.dots[i]);
        disagreed = expected != fresh.found[i];
        if (!disagreed) continue;
        s_.set_param("first_disagreement",
                     fmt::format("{} data: {:#x}, by the model {:#x}; c {:#x}, a {:x}, b {:x}",
                                 name(data), fresh.found[i], expected, fresh.dots[i].c,
                                 fmt::join(fresh.dots[i].a, " "), fmt::join(fresh.dots[i].b, " ")));
      }
    }
    s_.add_exact("model_agreement", "", Better::higher, sum / std::size(kAllData));
    s_.add_series(std::move(series));
  }

  State& s_;
  FloatFormat operand_, accumulator_;
  int k_;
  Evaluator run_;
};

void run(State& s) {
  const MmaInstruction& instruction = instruction_of(s.which());
  const MmaRunner runner(s, instruction, "mma");
  if (instruction.element == "f64") return measure_f64(s, instruction, runner);
  if (instruction.element == "s8") return measure_s8(s, instruction, runner);
  Measurement(s, instruction, runner).measure();
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const MmaInstruction& i : instructions()) {
    const bool headline =
        i.family == Family::wgmma && i.element == "e4m3" && i.accumulator == "f32";
    all.push_back({.name = i.type_name(),
                   .params = {{"a", i.element},
                              {"b", i.element},
                              {"accumulate", i.accumulator},
                              {"shape", i.shape()},
                              {"k", std::int64_t{i.k}}},
                   .targets = targets_of(i),
                   .suite = headline ? Suite::quick : Suite::full});
  }
  return all;
}

const Registration registration{{
    .name = "numerics/accumulate",
    .question = "How does an MMA add its products: how many bits, which rounding, in which order?",
    .metrics =
        {{"model_agreement", "Share of random dot products of which the model predicts every bit."},
         {"agreement",
          "Share of random dot products of which the model predicts every bit, for each kind of "
          "data."},
         {"accumulator_fraction_bits",
          "Fraction bits kept of a product below the unit of the greatest exponent in its sum."},
         {"c_fraction_bits", "Fraction bits kept of C."},
         {"result_fraction_bits", "Fraction bits of a sum's result."},
         {"guard_bits", "Fraction bits that a sum has beyond those of its result."},
         {"products_per_sum", "Products that are added at once."},
         {"sums", "Sums that follow one another in one instruction."},
         {"products_exact", "Whether products enter their sum without rounding: 1 or 0."},
         {"survival",
          "Whether a small product at one k survives a great one at another that cancels: 1 or "
          "0."}},
    .cases = cases(),
    .kernels =
        [](const Case& c, Target target) {
          return std::vector{single_mma_kernel(instruction_of(c), "mma", target)};
        },
    .run = run,
}};

}  // namespace

Series survival_series(int k, std::vector<double> values) {
  std::vector<Value> places;
  for (std::int64_t at = 0; at < k; ++at) places.emplace_back(at);
  return {.name = "survival",
          .unit = "",
          .axes = {{"great_at", places}, {"small_at", places}},
          .values = std::move(values)};
}

}  // namespace assay::numerics

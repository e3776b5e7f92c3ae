// SPDX-License-Identifier: Apache-2.0
// What the operands' values cost: the same wgmma m64n256 loop, SS, on data of several kinds, long
// enough for the power limit to act. Nothing differs but the bits, so what differs in watts and
// clock is what they switch.
//
// tensor_core/power is what it settles at. tensor_core/power_over_time is from idle into such a
// load and out of it again: how soon the power limit acts, what the clock does until then, and
// which reason the driver gives.
//
// Random bits are just that: in bf16 and e4m3 some mean NaN, and soon the accumulators do. 2:4 is
// dense arithmetic on normal data, two of four elements of A, at random, zero.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/callable.hpp"
#include "harness/device.hpp"
#include "harness/measure/load_trace.hpp"
#include "harness/measurement.hpp"
#include "probes/tensor_core/wgmma_kernel.hpp"

namespace {

using namespace assay;

using Values = Callable<double()>;

WgmmaKernel kernel_of(const Case& c) { return {.form = WgmmaForm::of(c), .entry = "in_flight"}; }

Values normal(const std::string& element, std::mt19937_64& random) {
  if (element != "s8")
    return
        [spread = std::normal_distribution<double>(), &random]() mutable { return spread(random); };
  // The largest is three standard deviations away: few are cut off.
  return [spread = std::normal_distribution<double>(0, 127.0 / 3), &random]() mutable {
    return std::round(std::clamp(spread(random), -127.0, 127.0));
  };
}

Values two_of_four(Values values, std::mt19937_64& random) {
  const std::array<bool, 4> two = {true, true, false, false};
  return [values = std::move(values), kept = two, at = std::size_t{0}, &random]() mutable {
    if (at % 4 == 0) std::ranges::shuffle(kept, random);
    return kept[at++ % 4] ? values() : 0.0;
  };
}

struct Data {
  const char* name;
  Words (*of_a)(const std::string& element, std::mt19937_64& random);
  Words (*of_b)(const std::string& element, std::mt19937_64& random) = nullptr;  // as A
};
constexpr Data kData[] = {
    {"zeros", [](const std::string& e, std::mt19937_64&) { return packed(e, [] { return 0.0; }); }},
    {"ones", [](const std::string& e, std::mt19937_64&) { return packed(e, [] { return 1.0; }); }},
    {"uniform", [](const std::string& e, std::mt19937_64& r) { return uniform(e, r); }},
    {"normal", [](const std::string& e, std::mt19937_64& r) { return packed(e, normal(e, r)); }},
    {"random_bits",
     [](const std::string&, std::mt19937_64& r) {
       return Words([&r] { return static_cast<std::uint32_t>(r()); });
     }},
    {"sparse_2_4",
     [](const std::string& e, std::mt19937_64& r) {
       return packed(e, two_of_four(normal(e, r), r));
     },
     [](const std::string& e, std::mt19937_64& r) { return packed(e, normal(e, r)); }}};

Case case_of(const std::string& element, const std::string& data) {
  Params params = WgmmaForm{element, element, element == "s8" ? "s32" : "f32", 256}.params();
  params["data"] = data;
  return {.name = fmt::format("{}/{}", element, data),
          .params = std::move(params),
          .suite = Suite::full};
}

std::vector<Case> settled_cases() {
  std::vector<Case> all;
  for (const char* element : {"bf16", "e4m3", "s8"})
    for (const Data& data : kData) {
      all.push_back(case_of(element, data.name));
      all.back().params["state"] = "sustained";
    }
  return all;
}

// The kernel of the case, with its data in place.
GeneratedKernel prepare(State& s) {
  const WgmmaKernel kernel = kernel_of(s.which());
  const Data& data = *std::ranges::find(kData, s.text("data"), &Data::name);
  GeneratedKernel loaded = load_wgmma(s, kernel);
  std::mt19937_64 random(s.seed());
  const auto of_b = data.of_b ? data.of_b : data.of_a;
  set_operands(loaded, kernel,
               operands_of(kernel.form, data.of_a(kernel.form.a, random),
                           of_b(kernel.form.b, random), random));
  return loaded;
}

void run_settled(State& s) {
  const WgmmaKernel kernel = kernel_of(s.which());
  s.cycles({.flop = kernel.flop(kernel.warpgroups), .limit = kernel.form.limit(s.target())},
           prepare(s).on_every_sm());
  s.lead_with("tflops");
  if (const auto watts = s.conditions().power_w) s.add_exact("power_w", "W", Better::lower, *watts);
}

void run_over_time(State& s) {
  constexpr double kCycles = 2e6;  // of one launch: about a millisecond
  const GeneratedKernel kernel = prepare(s);
  const auto launch = kernel.on_every_sm();
  const auto ctas = static_cast<std::size_t>(s.device().sm_count);
  auto* records = s.allocate<StopwatchRecord>(ctas);
  const double cycles = s.cycles_once(launch);
  const auto iterations = std::max<std::int64_t>(1, std::llround(kCycles / cycles));
  trace_load(s, [&](cudaStream_t stream) { launch({stream, iterations, records}); });
}

Probe probe_of(Probe rest) {
  rest.targets = targets_with(Feature::wgmma);
  rest.pace = Pace::power;
  rest.kernels = [](const Case& c, Target target) {
    return std::vector<KernelUse>{kernel_of(c).use(target)};
  };
  return rest;
}

const Registration settled{probe_of({
    .name = "tensor_core/power",
    .question = "How much do the tensor cores' power, clock and rate depend on the data?",
    .metrics = {{"power_w", "Power of the GPU while it multiplies such data."}},
    .cases = settled_cases(),
    .run = run_settled,
})};

const Registration over_time{probe_of({
    .name = "tensor_core/power_over_time",
    .question = "What do clock and power do when a load of matrix products begins, lasts and ends?",
    .metrics = load_trace_notes(),
    .cases = {case_of("bf16", "normal"), case_of("bf16", "zeros"), case_of("e4m3", "normal")},
    .run = run_over_time,
})};

}  // namespace

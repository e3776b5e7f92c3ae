// SPDX-License-Identifier: Apache-2.0
// From sampled times and cycles, and the work done in them, to named figures.
#include <algorithm>

#include "harness/error.hpp"
#include "harness/measure/figures/metric_notes.hpp"
#include "harness/measure/state_impl.hpp"
#include "harness/statistics.hpp"

namespace assay {
namespace {

// value = scale / median(samples) (a rate) or scale * median(samples) (a duration).
Metric from_samples(std::string name, std::string unit, Better better, double scale,
                    const std::vector<double>& samples) {
  const double middle = median(samples);
  const auto [low, high] = median_interval(samples);
  Metric metric{.name = std::move(name), .unit = std::move(unit), .better = better};
  if (better == Better::higher) {
    metric.value = scale / middle;
    metric.low = scale / high;
    metric.high = scale / low;
  } else {
    metric.value = scale * middle;
    metric.low = scale * low;
    metric.high = scale * high;
  }
  return metric;
}

}  // namespace

void State::Impl::need_description(const std::string& metric) const {
  if (describe(probe, metric).empty())
    throw Error(ExitCode::failed, "metric '" + metric +
                                      "' has no description: add it to .metrics of the "
                                      "registration in " +
                                      probe.source);
}

void State::Impl::add(Metric metric) {
  need_description(metric.name);
  if (measurement.primary.empty()) measurement.primary = metric.name;
  measurement.metrics.push_back(std::move(metric));
}

void State::Impl::add_metrics(const Work& work, const std::vector<double>& time_ns,
                              const std::vector<double>& cycles, int sms, bool per_sm,
                              std::optional<Spread> cycle_spread) {
  const double total = per_sm ? sms : 1;        // work of the whole GPU per unit of `work`
  const double share = per_sm ? 1 : 1.0 / sms;  // work of one SM
  std::vector<Metric> per_clock, per_second;
  const auto rate = [&](double amount, const char* clock_name, const char* clock_unit,
                        const char* second_name, const char* second_unit, double second_scale) {
    if (amount <= 0) return;
    if (!cycles.empty())
      per_clock.push_back(
          from_samples(clock_name, clock_unit, Better::higher, amount * share, cycles));
    if (!time_ns.empty())
      per_second.push_back(from_samples(second_name, second_unit, Better::higher,
                                        amount * total * second_scale, time_ns));
  };
  // Units per nanosecond: FLOP/ns = GFLOP/s, byte/ns = GB/s.
  rate(work.flop, "flop_per_clock_per_sm", "FLOP/clk/SM", "tflops", "TFLOP/s", 1e-3);
  rate(work.bytes, "bytes_per_clock_per_sm", "B/clk/SM", "bandwidth_gb_per_s", "GB/s", 1);
  rate(work.ops, "ops_per_clock_per_sm", "op/clk/SM", "gops", "Gop/s", 1);
  if (work.steps > 0) {
    if (!cycles.empty()) {
      Metric latency =
          from_samples("latency_cycles", "cycle", Better::lower, 1 / work.steps, cycles);
      if (cycle_spread)
        latency.spread = Spread{cycle_spread->min / work.steps, cycle_spread->median / work.steps,
                                cycle_spread->max / work.steps};
      per_clock.push_back(std::move(latency));
    }
    if (!time_ns.empty())
      per_second.push_back(
          from_samples("latency_ns", "ns", Better::lower, 1 / work.steps, time_ns));
  }
  if (work.bus_bytes > 0 && !time_ns.empty())
    per_second.push_back(
        from_samples("bus_bandwidth_gb_per_s", "GB/s", Better::higher, work.bus_bytes, time_ns));
  const bool plain_time = work.flop <= 0 && work.bytes <= 0 && work.ops <= 0 && work.steps <= 0;
  if (!time_ns.empty() && (plain_time || !per_sm))
    per_second.push_back(from_samples("time_us", "us", Better::lower, 1e-3, time_ns));

  // What one SM does is a constant of the chip, so its cycles lead; what the GPU does, its seconds.
  auto& first = per_sm && !per_clock.empty() ? per_clock : per_second;
  auto& second = &first == &per_clock ? per_second : per_clock;
  if (work.limit.value > 0 && !first.empty()) {
    first.front().limit = work.limit.value;
    first.front().limit_source = work.limit.source;
  }
  for (auto* list : {&first, &second})
    for (Metric& metric : *list) add(std::move(metric));
}

void State::Impl::add_energy() {
  const std::optional<double> watts = measurement.conditions.power_w;
  if (!sustained() || !watts) return;
  const auto add_per = [&](const char* rate_name, const char* name, const char* unit,
                           double scale) {
    const auto rate = std::ranges::find(measurement.metrics, rate_name, &Metric::name);
    if (rate == measurement.metrics.end()) return;
    add({.name = name,
         .unit = unit,
         .better = Better::lower,
         .value = scale * *watts / rate->value,
         .low = scale * *watts / rate->high,
         .high = scale * *watts / rate->low});
  };
  add_per("tflops", "energy_pj_per_flop", "pJ/FLOP", 1);
  add_per("bandwidth_gb_per_s", "energy_pj_per_byte", "pJ/B", 1e3);
}

void State::add_metric(std::string name, std::string unit, Better better,
                       std::span<const double> values) {
  impl_.add(from_samples(std::move(name), std::move(unit), Better::lower, 1,
                         std::vector<double>(values.begin(), values.end())));
  impl_.measurement.metrics.back().better = better;
}

}  // namespace assay

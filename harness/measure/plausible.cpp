// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/plausible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace assay {
namespace {

// Of a metric: what the steps of the timers leave open beyond its interval. Of a point of a series,
// which is a few samples without an interval: what those of a constant of the chip scatter by.
constexpr double kMetricMargin = 0.001, kPointMargin = 0.005;

// By how much a rate per second may be off the one per clock times the clock. Both come from the
// same samples, but the time is the whole GPU's, up to its slowest SM, the cycles are the median
// SM's, and the clock may move within a sample.
constexpr double kMostBelow = 0.10, kMostAbove = 0.05;

// Rates of one SM, and what they are of the whole GPU. `scale` turns 1e6 of the first into the
// second: B/clk x MHz = 1e6 B/s = 1e-3 GB/s.
struct Pair {
  std::string_view per_clock_unit, per_second_unit, per_clock, per_second;
  double scale;
};
constexpr std::array kPairs{
    Pair{"B/clk/SM", "GB/s", "bytes_per_clock_per_sm", "bandwidth_gb_per_s", 1e-3},
    Pair{"FLOP/clk/SM", "TFLOP/s", "flop_per_clock_per_sm", "tflops", 1e-6},
    Pair{"op/clk/SM", "Gop/s", "ops_per_clock_per_sm", "gops", 1e-3}};

// Units of what there cannot be less than none of.
constexpr std::array<std::string_view, 22> kNeverNegative{
    "GB/s", "B/clk/SM", "TFLOP/s", "FLOP/clk/SM", "Gop/s", "op/clk/SM", "op/clk", "1/s",
    "1/us", "s",        "ms",      "us",          "ns",    "cycle",     "W",      "J",
    "pJ/B", "pJ/FLOP",  "B",       "byte",        "SM",    "CTA"};

Limit of_every_sm(std::string_view unit) {
  if (unit == "B/clk/SM") return limits::l1_path();
  if (unit == "op/clk/SM") return {128, "4 warps of 32 lanes a clock"};
  return {};
}

// `clock_mhz` is the fastest that the SMs ran.
Limit of_unit(const std::map<std::string, Limit>& by_unit, std::string_view unit,
              const GpuBounds& gpu, double clock_mhz) {
  if (const auto own = by_unit.find(std::string(unit)); own != by_unit.end()) return own->second;
  if (gpu.sm_count == 0) return {};
  for (const Pair& pair : kPairs)
    if (unit == pair.per_second_unit) {
      const Limit sm = of_unit(by_unit, pair.per_clock_unit, gpu, clock_mhz);
      if (sm.value <= 0 || clock_mhz <= 0) return {0, sm.source};
      return {sm.value * gpu.sm_count * clock_mhz * pair.scale,
              fmt::format("{} SMs, {:.0f} MHz: {}", gpu.sm_count, clock_mhz, sm.source)};
    }
  return of_every_sm(unit);
}

// Figures that get a limit. Gop/s follow from operations per clock, which have one.
bool is_rate(std::string_view unit) {
  if (unit == "Gop/s") return false;
  return unit == "op/clk" || std::ranges::any_of(kPairs, [unit](const Pair& pair) {
           return unit == pair.per_clock_unit || unit == pair.per_second_unit;
         });
}

bool never_negative(std::string_view unit) {
  return std::ranges::find(kNeverNegative, unit) != kNeverNegative.end();
}

const Metric* find(const Measurement& found, std::string_view name) {
  const auto at = std::ranges::find(found.metrics, name, &Metric::name);
  return at == found.metrics.end() ? nullptr : &*at;
}

// The figure over what it should be, 1 for agreement, and how far from 1 the intervals reach.
std::string contradiction(const Measurement& found, const GpuBounds& gpu) {
  const double clock = found.conditions.sm_clock_mhz.value_or(0);
  if (clock <= 0) return {};
  for (const Pair& pair : kPairs) {
    const Metric *per_clock = find(found, pair.per_clock), *second = find(found, pair.per_second);
    if (!per_clock || !second || per_clock->value <= 0 || second->value <= 0) continue;
    const double whole = gpu.sm_count * clock * pair.scale;
    if (second->low > per_clock->high * whole * (1 + kMostAbove) ||
        second->high < per_clock->low * whole * (1 - kMostBelow))
      return fmt::format(
          "{:.6g} {} contradict {:.6g} {}, which at {:.0f} MHz are {:.6g} {}: the two were not of "
          "one state",
          second->value, second->unit, per_clock->value, per_clock->unit, clock,
          per_clock->value * whole, second->unit);
  }
  return {};
}

std::string wrong_point(const Series& series) {
  const bool negative = !series.signed_values && never_negative(series.unit);
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const double value = series.values[i];
    const auto point = [&] {
      return fmt::format("point {} of series '{}', {:.6g} {},", i + 1, series.name, value,
                         series.unit);
    };
    if (std::isinf(value)) return point() + " is not a number";
    if (!series.low.empty() && (value < series.low[i] || value > series.high[i]))
      return fmt::format("{} is outside its own interval, {:.6g} to {:.6g}", point(), series.low[i],
                         series.high[i]);
    if (negative && value < 0) return point() + " is negative";
    if (series.limit > 0 && value > series.limit * (1 + kPointMargin))
      return fmt::format("{} is above its limit of {:.6g} ({})", point(), series.limit,
                         series.limit_source);
  }
  return {};
}

}  // namespace

void set_limits(Measurement& found, const std::map<std::string, Limit>& by_unit,
                const GpuBounds& gpu) {
  // SMs were seen at 2010 MHz where the driver tells of 1980 at most.
  const double clock_mhz =
      std::max(gpu.sm_clock_max_mhz, found.conditions.sm_clock_max_mhz.value_or(0));
  const auto limit_of = [&](std::string_view unit) {
    Limit limit = of_unit(by_unit, unit, gpu, clock_mhz);
    if (limit.value <= 0 && limit.source.empty()) limit.source = "none is known";
    return limit;
  };
  for (Metric& metric : found.metrics) {
    if (metric.limit || metric.better != Better::higher || !is_rate(metric.unit)) continue;
    const Limit limit = limit_of(metric.unit);
    if (limit.value > 0) metric.limit = limit.value;
    metric.limit_source = limit.source;
  }
  for (Series& series : found.series) {
    if (series.limit > 0 || !is_rate(series.unit)) continue;
    const Limit limit = limit_of(series.unit);
    series.limit = limit.value;
    series.limit_source = limit.source;
  }
}

std::string implausible(const Measurement& found, const GpuBounds& gpu) {
  for (const Metric& metric : found.metrics) {
    const auto figure = [&] {
      return fmt::format("{} of {:.6g} {}", metric.name, metric.value, metric.unit);
    };
    if (!std::isfinite(metric.value) || !std::isfinite(metric.low) || !std::isfinite(metric.high))
      return figure() + " is not a number";
    if (!metric.signed_value && never_negative(metric.unit) && metric.value < 0)
      return figure() + " is negative";
    if (metric.limit && metric.better == Better::higher &&
        metric.low > *metric.limit * (1 + kMetricMargin))
      return fmt::format("{} is above its limit of {:.6g} ({})", figure(), *metric.limit,
                         metric.limit_source);
  }
  for (const Series& series : found.series)
    if (std::string wrong = wrong_point(series); !wrong.empty()) return wrong;
  return contradiction(found, gpu);
}

}  // namespace assay

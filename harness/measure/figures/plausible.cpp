// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/figures/plausible.hpp"

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

constexpr std::array<std::string_view, 5> kTimes{"s", "ms", "us", "ns", "cycle"};
constexpr std::array<std::string_view, 4> kRates{"/s", "/us", "/clk", "/clk/SM"};

Limit of_every_sm(std::string_view unit) {
  if (unit == "B/clk/SM") return limits::l1_path();
  if (unit == "op/clk/SM") return {128, "4 warps of 32 lanes a clock"};
  return {};
}

// The limits of one case, for figures that its probe gave none.
class Limits {
 public:
  // `known` by name of a figure or by unit, as the probe said, and what figures have already.
  Limits(const Measurement& found, const std::map<std::string, Limit>& known, const GpuBounds& gpu)
      : known_(known),
        gpu_(gpu),
        // SMs were seen at 2010 MHz where the driver tells of 1980 at most.
        fastest_mhz_(std::max(gpu.sm_clock_max_mhz, found.conditions.sm_clock_max_mhz.value_or(0))),
        slowest_mhz_(
            found.conditions.sm_clock_min_mhz.value_or(found.conditions.sm_clock_mhz.value_or(0))) {
    for (const Metric& metric : found.metrics)
      if (metric.limit && metric.better == Better::higher)
        known_.insert({metric.name, {*metric.limit, metric.limit_source}});
  }

  Limit of(const std::string& name, const std::string& unit) const {
    Limit limit = find(name, unit);
    if (limit.value <= 0 && limit.source.empty()) limit.source = "none is known";
    return limit;
  }

 private:
  const Limit* said(std::string_view name, std::string_view unit) const {
    for (const std::string_view key : {name, unit})
      if (const auto at = known_.find(std::string(key)); at != known_.end()) return &at->second;
    return nullptr;
  }

  Limit find(std::string_view name, std::string_view unit) const {
    const Limit* const own = said(name, unit);
    if (gpu_.sm_count == 0) return own ? *own : Limit{};
    for (const Pair& pair : kPairs) {
      if (unit == pair.per_second_unit && !own)
        return times(find(name == pair.per_second ? pair.per_clock : "", pair.per_clock_unit),
                     gpu_.sm_count * fastest_mhz_ * pair.scale, fastest_mhz_);
      // What the pins of a memory carry bounds an SM's share of it: the most where a clock takes
      // longest. The two figures are of the same samples, so their clock is known. Peaks of the
      // SMs are those at the highest clock that the driver tells of.
      const Limit* const second = said(pair.per_second, pair.per_second_unit);
      const double mhz = unit == "B/clk/SM" ? slowest_mhz_ : gpu_.sm_clock_max_mhz;
      if (name != pair.per_clock || !second || second->value <= 0 || mhz <= 0) continue;
      const Limit share = times(*second, 1 / (gpu_.sm_count * mhz * pair.scale), mhz);
      const Limit sm = own ? *own : of_an_sm(unit);
      return sm.value > 0 && sm.value <= share.value ? sm : share;
    }
    return own ? *own : of_an_sm(unit);
  }

  Limit of_an_sm(std::string_view unit) const {
    return gpu_.through_sms || unit != "B/clk/SM" ? of_every_sm(unit)
                                                  : limits::unknown("of the link");
  }

  Limit times(const Limit& limit, double factor, double clock_mhz) const {
    if (limit.value <= 0 || clock_mhz <= 0) return {0, limit.source};
    return {limit.value * factor,
            fmt::format("{} SMs, {:.0f} MHz: {}", gpu_.sm_count, clock_mhz, limit.source)};
  }

  std::map<std::string, Limit> known_;
  GpuBounds gpu_;
  double fastest_mhz_, slowest_mhz_;
};

// Figures that get a limit, or the words that none is known.
bool is_rate(std::string_view unit) {
  return std::ranges::any_of(kRates, [unit](std::string_view end) { return unit.ends_with(end); });
}

// Times of something that was done: there is no doing it in none. Other times may be 0, as what one
// thing costs beside another.
bool never_zero(std::string_view name, std::string_view unit) {
  return (name.find("latency") != std::string_view::npos || name == "time_us") &&
         std::ranges::find(kTimes, unit) != kTimes.end();
}

bool never_negative(std::string_view unit) {
  return std::ranges::find(kNeverNegative, unit) != kNeverNegative.end();
}

// A figure with the ends of its interval.
struct Ends {
  double value, low, high;
};

Ends ends(const Series& series, std::size_t i) {
  const double value = series.values[i];
  return series.low.empty() ? Ends{value, value, value}
                            : Ends{value, series.low[i], series.high[i]};
}

// Why a figure per clock and one per second cannot both be. Where the clock was not recorded, only
// what the fastest one does not explain contradicts.
std::string contradiction(const Pair& pair, const Ends& clock, const Ends& second,
                          const Conditions& conditions, const GpuBounds& gpu) {
  const bool recorded = conditions.sm_clock_mhz.value_or(0) > 0;
  const double mhz = recorded ? *conditions.sm_clock_mhz : gpu.sm_clock_max_mhz;
  const double whole = gpu.sm_count * mhz * pair.scale;
  if (!(clock.value > 0) || !(second.value > 0) || whole <= 0) return {};
  const bool too_much = second.low > clock.high * whole * (1 + kMostAbove);
  const bool too_little = second.high < clock.low * whole * (1 - kMostBelow);
  if (!too_much && !(too_little && recorded)) return {};
  return fmt::format(
      "{:.6g} {} contradict {:.6g} {}, which at {:.0f} MHz are {:.6g} {}: the two were not of one "
      "state",
      second.value, pair.per_second_unit, clock.value, pair.per_clock_unit, mhz,
      clock.value * whole, pair.per_second_unit);
}

std::string contradiction(const Measurement& found, const GpuBounds& gpu) {
  for (const Pair& pair : kPairs) {
    const auto judge = [&](const Ends& clock, const Ends& second) {
      return contradiction(pair, clock, second, found.conditions, gpu);
    };
    const auto clock = std::ranges::find(found.metrics, pair.per_clock, &Metric::name);
    const auto second = std::ranges::find(found.metrics, pair.per_second, &Metric::name);
    if (clock != found.metrics.end() && second != found.metrics.end())
      if (std::string why = judge({clock->value, clock->low, clock->high},
                                  {second->value, second->low, second->high});
          !why.empty())
        return why;
    const auto clocks = std::ranges::find(found.series, pair.per_clock, &Series::name);
    const auto seconds = std::ranges::find(found.series, pair.per_second, &Series::name);
    if (clocks == found.series.end() || seconds == found.series.end() ||
        clocks->values.size() != seconds->values.size())
      continue;
    for (std::size_t i = 0; i < clocks->values.size(); ++i)
      if (std::string why = judge(ends(*clocks, i), ends(*seconds, i)); !why.empty())
        return fmt::format("point {} of series '{}' and '{}': {}", i + 1, seconds->name,
                           clocks->name, why);
  }
  return {};
}

std::string wrong_point(const Series& series) {
  const bool negative = !series.signed_values && never_negative(series.unit);
  const bool zero = !series.signed_values && never_zero(series.name, series.unit);
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
    if (zero && value == 0) return point() + " is no time";
    if (series.limit > 0 && value > series.limit * (1 + kPointMargin))
      return fmt::format("{} is above its limit of {:.6g} ({})", point(), series.limit,
                         series.limit_source);
  }
  return {};
}

}  // namespace

void set_limits(Measurement& found, const std::map<std::string, Limit>& known,
                const GpuBounds& gpu) {
  const Limits limits(found, known, gpu);
  for (Metric& metric : found.metrics) {
    if (metric.limit || metric.better != Better::higher || !is_rate(metric.unit)) continue;
    const Limit limit = limits.of(metric.name, metric.unit);
    if (limit.value > 0) metric.limit = limit.value;
    metric.limit_source = limit.source;
  }
  for (Series& series : found.series) {
    if (series.limit > 0 || !is_rate(series.unit)) continue;
    const Limit limit = limits.of(series.name, series.unit);
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
    if (!metric.signed_value && never_zero(metric.name, metric.unit) && metric.value == 0)
      return figure() + " is no time";
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

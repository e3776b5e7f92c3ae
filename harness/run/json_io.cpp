// SPDX-License-Identifier: Apache-2.0
#include "harness/run/json_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "harness/error.hpp"

namespace assay {
namespace {

Json number(double value, int digits = kDigits) {
  if (!std::isfinite(value))
    throw Error(ExitCode::failed, "a measured figure is not finite: it must not reach a file");
  if (value == std::trunc(value) && std::abs(value) < 0x1p53)
    return static_cast<std::int64_t>(value);  // a count, to the last: 132, not 132.0
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(number(value, kSampleDigits));
  return json;
}

void put(Json& json, const char* key, const std::optional<double>& value) {
  if (value) json[key] = number(*value);
}

Json to_json(const Metric& metric) {
  Json json = {{"unit", metric.unit},
               {"value", number(metric.value)},
               {"ci95", {number(metric.low), number(metric.high)}},
               {"better", metric.better == Better::higher ? "higher" : "lower"}};
  put(json, "limit", metric.limit);
  if (!metric.limit_source.empty()) json["limit_source"] = metric.limit_source;
  if (metric.signed_value) json["signed"] = true;
  if (metric.spread)
    json["spread"] = {{"min", number(metric.spread->min)},
                      {"median", number(metric.spread->median)},
                      {"max", number(metric.spread->max)}};
  return json;
}

Json to_json(const Series& series) {
  Json json = {{"name", series.name}, {"unit", series.unit}, {"axes", Json::array()}};
  for (const Axis& axis : series.axes) {
    Json points = Json::array();
    for (const Value& point : axis.points)
      std::visit([&](const auto& p) { points.push_back(p); }, point);
    json["axes"].push_back({{"name", axis.name}, {"points", std::move(points)}});
  }
  Json values = Json::array();
  for (const double value : series.values)
    values.push_back(std::isnan(value) ? Json(nullptr) : number(value, kSampleDigits));
  json["values"] = std::move(values);
  if (std::ranges::any_of(series.low, [](double end) { return !std::isnan(end); })) {
    json["ci95"] = Json::array();
    for (std::size_t i = 0; i < series.low.size(); ++i)
      json["ci95"].push_back(
          std::isnan(series.low[i])
              ? Json(nullptr)
              : Json{number(series.low[i], kSampleDigits), number(series.high[i], kSampleDigits)});
  }
  if (series.limit > 0) json["limit"] = number(series.limit, kDigits);
  if (!series.limit_source.empty()) json["limit_source"] = series.limit_source;
  if (series.signed_values) json["signed"] = true;
  return json;
}

Json to_json(const Conditions& c, Pace pace) {
  Json json = {{"clock_domain", name(pace)}};
  put(json, "sm_clock_mhz", c.sm_clock_mhz);
  for (const auto& [key, clock] : {std::pair{"sm_clock_min_mhz", c.sm_clock_min_mhz},
                                   std::pair{"sm_clock_max_mhz", c.sm_clock_max_mhz}})
    if (clock) json[key] = number(*clock, kClockDigits);
  put(json, "memory_clock_mhz", c.memory_clock_mhz);
  put(json, "power_w", c.power_w);
  if (c.power_max_w) json["power_max_w"] = number(*c.power_max_w, kClockDigits);
  put(json, "temperature_c", c.temperature_c);
  json["throttle"] = c.throttle;
  if (c.other_processes.value_or(0) > 0) put(json, "other_processes", c.other_processes);
  json["l2"] = c.l2;
  json["stop"] = c.stop;
  json["sample_count"] = c.sample_count;
  json["iterations"] = c.iterations;
  json["seed"] = c.seed;
  return json;
}

}  // namespace

std::string_view name(Role role) {
  constexpr std::string_view names[] = {"none", "throughput", "latency", "bandwidth"};
  return names[static_cast<int>(role)];
}
std::string_view name(Kind kind) {
  constexpr std::string_view names[] = {"probe", "kernel", "baseline", "collective"};
  return names[static_cast<int>(kind)];
}
std::string_view name(Status status) {
  constexpr std::string_view names[] = {"ok", "failed", "skipped", "not_run"};
  return names[static_cast<int>(status)];
}
std::string_view name(Pace pace) {
  constexpr std::string_view names[] = {"sm", "l2", "dram", "link", "power", "host"};
  return names[static_cast<int>(pace)];
}

Json to_json(const Params& params) {
  Json json = Json::object();
  for (const auto& [key, value] : params)
    std::visit([&, k = key](const auto& v) { json[k] = v; }, value);
  return json;
}

Json to_json(const SassRecord& sass) {
  Json json = {{"kernel", sass.kernel}, {"target", sass.target},     {"sha256", sass.sha256},
               {"loop", sass.loop},     {"verified", sass.verified}, {"emulated", sass.emulated}};
  if (sass.role != Role::none)
    json["instruction"] = {{"role", name(sass.role)}, {"opcodes", sass.instruction}};
  if (!sass.text.empty()) json["text"] = sass.text;
  return json;
}

Json to_json(const std::vector<KernelLaunch>& launches) {
  Json json = Json::array();
  for (const KernelLaunch& launch : launches)
    json.push_back({{"kernel", launch.kernel},
                    {"grid", launch.grid},
                    {"block", launch.block},
                    {"shared_bytes", launch.shared_bytes}});
  return json;
}

Json to_json(const Measurement& m) {
  Json json = {{"name", m.name},
               {"kind", name(m.kind)},
               {"probe", m.probe},
               {"params", to_json(m.params)},
               {"status", name(m.status)}};
  if (!m.reason.empty()) json["reason"] = m.reason;
  if (!m.primary.empty()) json["primary"] = m.primary;
  json["metrics"] = Json::object();
  for (const Metric& metric : m.metrics) json["metrics"][metric.name] = to_json(metric);
  json["samples"] = Json::object();
  for (const auto& [key, values] : m.samples) json["samples"][key] = numbers(values);
  if (!m.series.empty()) {
    json["series"] = Json::array();
    for (const Series& series : m.series) json["series"].push_back(to_json(series));
  }
  json["conditions"] = to_json(m.conditions, m.pace);
  json["sass"] = m.sass ? to_json(*m.sass) : Json(nullptr);
  json["baselines"] = Json::array();
  for (const Baseline& b : m.baselines)
    json["baselines"].push_back(
        {{"name", b.name}, {"speedup", to_json(b.speedup)}, {"time_us", to_json(b.time_us)}});
  if (!m.counters.empty()) json["counters"] = m.counters;
  json["source"] = nullptr;
  json["flags"] = m.flags;
  json["repetition"] = m.repetition;
  json["duration_s"] = number(m.duration_s, kClockDigits);
  json["command"] = fmt::format("assay run '^{}$'", m.name);
  return json;
}

Json to_json(const RunOptions& options) {
  Json json = {{"half_width", options.sampling.half_width},
               {"time_cap_s", options.sampling.time_cap_s},
               {"seed", options.seed},
               {"counters", options.counters},
               {"profile", options.profile},
               {"alone", options.alone},
               {"sweeps", options.sweeps}};
  if (options.extra_percent) json["extra_percent"] = *options.extra_percent;
  return json;
}

RunOptions options_from_json(const Field& options) {
  RunOptions read;
  read.sampling.half_width = options.at("half_width").number(kLeastHalfWidth, kMostHalfWidth);
  read.sampling.time_cap_s = options.at("time_cap_s").number(kLeastTimeCapS, kMostTimeCapS);
  read.seed = options.at("seed").seed();
  read.counters = options.at("counters").flag();
  read.profile = options.at("profile").flag();
  if (options.has("alone")) read.alone = options.at("alone").flag();     // older journals lack it
  if (options.has("sweeps")) read.sweeps = options.at("sweeps").flag();  // and this
  if (options.has("extra_percent"))
    read.extra_percent = static_cast<int>(options.at("extra_percent").integer(-99, 100));
  return read;
}

}  // namespace assay

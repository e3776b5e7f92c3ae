// SPDX-License-Identifier: Apache-2.0
#include "harness/run/json_io.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/error.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/measure/figures/plausible.hpp"
#include "harness/measurement.hpp"

namespace assay {
namespace {

constexpr std::int64_t kMostRepetitions = 1'000'000;
constexpr std::int64_t kMany = std::numeric_limits<std::int64_t>::max();

void check_one_of(const Field& field, std::initializer_list<std::string_view> words) {
  const std::string& text = field.text();
  if (std::ranges::find(words, text) != words.end()) return;
  field.refuse(fmt::format("is '{}', not one of {}", excerpt(text), fmt::join(words, ", ")));
}

void check_text(const Field& object, const char* key) {
  if (object.has(key)) object.at(key).text();
}

void check_object(const Field& object, const char* key) {
  if (object.has(key)) object.at(key).require_object();
}

std::pair<double, double> read_interval(const Field& interval) {
  std::vector<double> ends;
  interval.for_each_item([&](const Field& end) { ends.push_back(end.number()); });
  if (ends.size() != 2 || ends[0] > ends[1]) interval.refuse("is not an interval [low, high]");
  return {ends[0], ends[1]};
}

void check_metric(const Field& metric, bool is_ours) {
  metric.at("unit").text();
  metric.at("value").number();
  if (const auto limit = metric.find("limit")) limit->number();
  if (metric.has("better")) check_one_of(metric.at("better"), {"higher", "lower"});
  if (is_ours) metric.at("ci95");
  if (const auto interval = metric.find("ci95")) {
    const auto [low, high] = read_interval(*interval);
    const double value = metric.at("value").number();
    if (value < low || value > high) interval->refuse("does not hold the value");
  }
}

// Refuses figures that the harness would not have let out: above their limit, negative, no time.
void check_plausible(const Field& metrics) {
  metrics.for_each_member([](const std::string& name, const Field& field) {
    Metric metric{.name = name, .unit = field.at("unit").text()};
    metric.value = field.at("value").number();
    std::tie(metric.low, metric.high) = read_interval(field.at("ci95"));
    if (field.at("better").text() == "lower") metric.better = Better::lower;
    if (const auto limit = field.find("limit")) metric.limit = limit->number();
    const auto source = field.find("limit_source");
    metric.limit_source = source ? source->text() : "as the file says";
    metric.signed_value = field.has("signed") && field.at("signed").flag();
    Measurement alone;
    alone.metrics.push_back(std::move(metric));
    if (const std::string why = implausible(alone, {}); !why.empty())
      field.refuse("cannot be: " + why);
  });
}

void check_series(const Field& series) {
  series.at("name").text();
  series.at("axes").for_each_item([](const Field& axis) { axis.at("name").text(); });
  const auto intervals = series.find("ci95");
  if (!intervals) return;
  std::vector<std::optional<double>> values;
  series.at("values").for_each_item([&](const Field& value) {
    values.push_back(value.is_null() ? std::nullopt : std::optional(value.number()));
  });
  std::size_t place = 0;
  intervals->for_each_item([&](const Field& interval) {
    const auto value = place < values.size() ? values[place] : std::nullopt;
    ++place;
    if (interval.is_null()) return;
    const auto [low, high] = read_interval(interval);
    if (!value || *value < low || *value > high)
      interval.refuse("does not hold the value of its place; measure again");
  });
  if (place != values.size())
    intervals->refuse(fmt::format("has {} intervals for {} values; give one or null for each",
                                  place, values.size()));
}

void check_sass(const Field& sass) {
  check_text(sass, "kernel");
  check_text(sass, "target");
  check_text(sass, "text");
  const auto check_counts = [](const std::string&, const Field& count) { count.integer(0, kMany); };
  if (sass.has("loop")) sass.at("loop").for_each_member(check_counts);
  if (sass.has("instruction")) {
    check_text(sass.at("instruction"), "role");
    sass.at("instruction").at("opcodes").for_each_member(check_counts);
  }
}

// What `assay run` shows of a measurement again when it goes on with a run.
void check_repeatable(const Field& measurement) {
  measurement.at("repetition").integer(0, kMostRepetitions);
  if (measurement.has("probe")) measurement.at("probe").text();
  if (measurement.at("status").text() != "ok") return;
  const std::string& primary = measurement.at("primary").text();
  measurement.at("metrics").at(primary);
  check_plausible(measurement.at("metrics"));
  measurement.at("samples").for_each_member([](const std::string&, const Field& values) {
    if (values.is_empty()) values.refuse("holds no sample");
  });
  measurement.at("duration_s").number(0);
  measurement.at("conditions").at("stop").text();
  measurement.at("flags").for_each_item([](const Field& flag) { flag.text(); });
  measurement.at("baselines").for_each_item([](const Field& baseline) {
    baseline.at("name").text();
    baseline.at("speedup").at("value").number();
  });
}

}  // namespace

void require_schema(const Json& json, const JsonSource& source) {
  const auto found = json.is_object() ? json.find("schema") : json.end();
  if (!json.is_object() || found == json.end() || !found->is_string())
    throw Error(ExitCode::usage, source.name +
                                     " is not an assay run file: its field 'schema' is "
                                     "missing; give a run.json made by `assay run`");
  const std::string schema = *found;
  if (schema == kSchema) return;
  const bool newer = schema.starts_with("assay.run/");
  throw Error(ExitCode::usage,
              fmt::format("{}: schema '{}' {}", source.name, excerpt(schema),
                          newer ? "is not the '" + std::string(kSchema) +
                                      "' this program reads: use the assay that wrote it"
                                : "is not an assay run file's"));
}

void check_header(const Field& header) {
  const Field environment = header.at("environment");
  if (const auto gpu = environment.find("gpu")) {
    gpu->at("name").text();
    check_text(*gpu, "architecture");
    check_text(*gpu, "generation");
    check_text(*gpu, "id");
  }
  for (const char* part : {"host", "assay"})
    if (const auto field = environment.find(part)) field->require_object();
  if (header.has("run")) check_text(header.at("run"), "started");
}

void check_measurement(const Field& m, bool is_ours) {
  if (m.at("name").text().empty()) m.at("name").refuse("is empty");
  if (is_ours || m.has("status"))
    check_one_of(m.at("status"), {"ok", "failed", "skipped", "not_run"});
  for (const char* key : {"kind", "reason", "primary"}) check_text(m, key);
  if (const auto probe = m.find("probe")) probe->text();
  if (const auto repetition = m.find("repetition")) repetition->integer(0, kMostRepetitions);
  for (const char* key : {"params", "conditions", "counters"}) check_object(m, key);
  if (m.has("metrics"))
    m.at("metrics").for_each_member(
        [&](const std::string&, const Field& metric) { check_metric(metric, is_ours); });
  if (m.has("samples"))
    m.at("samples").for_each_member(
        [](const std::string&, const Field& values) { values.require_numbers(); });
  if (m.has("series")) m.at("series").for_each_item(check_series);
  if (const auto sass = m.find("sass")) check_sass(*sass);
  if (is_ours) check_repeatable(m);
}

Json read_run_file(const std::filesystem::path& path, const Names& left_out) {
  Json json = read_json(path, left_out);
  const JsonSource source{path.string()};
  require_schema(json, source);
  const Field root(json, source);
  check_header(root);
  root.at("measurements").for_each_item([](const Field& m) { check_measurement(m, false); });
  return json;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "harness/run/descriptions.hpp"

#include <map>
#include <string>

#include "harness/measure/figures/metric_notes.hpp"

namespace assay {
namespace {

void add(Json& descriptions, const Probe& probe, const std::string& metric) {
  if (std::string own = find_meaning(probe.metrics, metric); !own.empty())
    descriptions[probe.name + ":" + metric] = std::move(own);
  else if (std::string standard = find_meaning(standard_metrics(), metric); !standard.empty())
    descriptions[metric] = std::move(standard);
}

}  // namespace

Json metric_descriptions(const std::vector<Json>& measurements) {
  std::map<std::string, const Probe*> known;
  for (const Probe* probe : probes()) known[probe->name] = probe;
  Json descriptions = Json::object();
  for (const Json& measurement : measurements) {
    const auto probe = known.find(measurement.value("probe", ""));
    if (probe == known.end()) continue;
    const Json metrics = measurement.value("metrics", Json::object());
    for (const auto& [metric, figure] : metrics.items()) add(descriptions, *probe->second, metric);
    for (const Json& series : measurement.value("series", Json::array()))
      add(descriptions, *probe->second, series.at("name"));
  }
  return descriptions;
}

}  // namespace assay

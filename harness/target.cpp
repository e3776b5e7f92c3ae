// SPDX-License-Identifier: Apache-2.0
#include "harness/target.hpp"

#include <string>

#include "harness/error.hpp"

namespace assay {

const TargetRow& row_of(Target target) { return kTargetTable[static_cast<int>(target)]; }

bool has(Target target, FeatureSet features) { return row_of(target).features.contains(features); }

std::string_view name(Target target) { return row_of(target).name; }

Target parse_target(std::string_view text) {
  std::string known;
  for (const TargetRow& row : kTargetTable) {
    if (row.name == text) return row.target;
    known += known.empty() ? "" : ", ";
    known += row.name;
  }
  throw Error(ExitCode::usage,
              "unknown target '" + std::string(text) + "': choose one of " + known);
}

Target target_for_capability(int major, int minor) {
  for (const TargetRow& row : kTargetTable)
    if (row.major == major && row.minor == minor) return row.target;
  return Target::host;
}

std::vector<Target> all_gpu_targets() { return targets_with({}); }

std::vector<Target> targets_with(FeatureSet features) {
  std::vector<Target> targets;
  for (const TargetRow& row : kTargetTable)
    if (row.target != Target::host && row.features.contains(features))
      targets.push_back(row.target);
  return targets;
}

std::vector<std::string_view> words(std::string_view field) {
  std::vector<std::string_view> all;
  while (!field.empty()) {
    const std::size_t end = std::min(field.find(' '), field.size());
    if (end > 0) all.push_back(field.substr(0, end));
    field.remove_prefix(std::min(end + 1, field.size()));
  }
  return all;
}

const std::vector<Target>& built_targets() {
  static const std::vector<Target> built = [] {
    std::vector<Target> targets;
    for (const std::string_view number : words(ASSAY_TARGETS))  // "89 90a", as CMake has them
      targets.push_back(parse_target("sm_" + std::string(number)));
    return targets;
  }();
  return built;
}

}  // namespace assay

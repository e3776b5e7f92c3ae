// SPDX-License-Identifier: Apache-2.0
#include "harness/target.hpp"

#include <string>

#include "harness/error.hpp"

namespace assay {
namespace {
struct Row {
  Target target;
  std::string_view name;
  int major, minor;
};
constexpr Row kRows[] = {{Target::host, "host", 0, 0},        {Target::sm_89, "sm_89", 8, 9},
                         {Target::sm_90a, "sm_90a", 9, 0},    {Target::sm_100a, "sm_100a", 10, 0},
                         {Target::sm_103a, "sm_103a", 10, 3}, {Target::sm_120a, "sm_120a", 12, 0}};
}  // namespace

std::string_view name(Target target) { return kRows[static_cast<int>(target)].name; }

Target parse_target(std::string_view text) {
  std::string known;
  for (const Row& row : kRows) {
    if (row.name == text) return row.target;
    known += known.empty() ? "" : ", ";
    known += row.name;
  }
  throw Error(ExitCode::usage,
              "unknown target '" + std::string(text) + "': choose one of " + known);
}

Target target_for_capability(int major, int minor) {
  for (const Row& row : kRows)
    if (row.major == major && row.minor == minor) return row.target;
  return Target::host;
}

std::vector<Target> all_gpu_targets() { return {std::begin(kGpuTargets), std::end(kGpuTargets)}; }

std::vector<Target> targets_from(Target oldest) {
  std::vector<Target> chosen;
  for (Target target : kGpuTargets)
    if (target >= oldest) chosen.push_back(target);
  return chosen;
}

}  // namespace assay

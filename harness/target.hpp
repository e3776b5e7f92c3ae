// SPDX-License-Identifier: Apache-2.0
// Questions about the instruction-set targets that assay knows; target_table.hpp has the answers.
#pragma once
#include <string_view>
#include <vector>

#include "harness/target_table.hpp"

namespace assay {

// All that is known of a target.
const TargetRow& row_of(Target target);

// Whether a target has a feature, or all of several.
bool has(Target target, FeatureSet features);

// The spelling nvcc, ptxas and nvJitLink use: "sm_90a".
std::string_view name(Target target);
// Inverse of name(); throws Error(usage) that lists the known targets.
Target parse_target(std::string_view text);
// The target whose code a GPU of this compute capability runs best; Target::host if there is none.
// Architecture-specific code ("a") runs on exactly one compute capability.
Target target_for_capability(int major, int minor);

// For registrations: every target of a GPU, oldest first, and those that have all of `features`.
std::vector<Target> all_gpu_targets();
std::vector<Target> targets_with(FeatureSet features);

// The words of a row's field: "GB100" and "GB102" of "GB100 GB102".
std::vector<std::string_view> words(std::string_view field);

// The targets that this build holds machine code for: what CMake's ASSAY_TARGETS named.
const std::vector<Target>& built_targets();

}  // namespace assay

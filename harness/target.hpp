// SPDX-License-Identifier: Apache-2.0
// The instruction-set targets assay compiles for.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay {

// `host` stands for probes of the CPU, which need no GPU at all.
enum class Target : std::uint8_t { host, sm_89, sm_90a, sm_100a, sm_103a, sm_120a };

// Every GPU target, oldest first.
inline constexpr Target kGpuTargets[] = {Target::sm_89, Target::sm_90a, Target::sm_100a,
                                         Target::sm_103a, Target::sm_120a};

// The spelling nvcc, ptxas and nvJitLink use: "sm_90a".
std::string_view name(Target target);
// Inverse of name(); throws Error(usage) that lists the known targets.
Target parse_target(std::string_view text);
// The target whose code a GPU of this compute capability runs best; Target::host if there is none.
// Architecture-specific code ("a") runs on exactly one compute capability, so 12.1 gets none.
Target target_for_capability(int major, int minor);

// Named sets for registrations.
std::vector<Target> all_gpu_targets();
std::vector<Target> targets_from(Target oldest);  // oldest and everything newer

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// `assay sass WHAT`: the analysis of kernels in a file, or of those behind cases.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "harness/error.hpp"
#include "harness/probe.hpp"
#include "harness/target.hpp"

namespace assay::commands {

struct SassView {
  std::filesystem::path table, measured;  // run.json; empty: the newest committed result
  int warps = 0;                          // of an SM; 0: by the kernel's launch bounds
  bool all = false;                       // every kernel and loop, however many
  bool brief = false;                     // without the listing
  bool json = false;
  std::filesystem::path svg;  // of the hottest loop
};

// The kernels called `kernel` in a file, or all of them, for these architectures ("sm_90a") or all;
// lists them only if they are many and not asked for by name.
ExitCode show_file(const std::filesystem::path& file, const std::string& kernel,
                   const std::vector<std::string>& architectures, const SassView& view);

// The kernels behind cases; reports too where a kernel is not what its probe expects.
ExitCode show_cases(const std::vector<std::pair<Selected, Target>>& wanted, const SassView& view);

}  // namespace assay::commands

// SPDX-License-Identifier: Apache-2.0
// Analyses for programs to read.
#pragma once
#include <string>
#include <vector>

#include "harness/sass/analysis.hpp"

namespace assay::sass {

// One kernel's object; all numbers of cycles are as in analysis.hpp. Without the listing it lacks
// the steps of its schedules, most of its size.
std::string report_json(const KernelAnalysis& kernel, const CostTable& table, bool listing = true);

// The document `assay.sass/1` of such objects.
std::string document_json(const std::vector<std::string>& kernels);

}  // namespace assay::sass

// SPDX-License-Identifier: Apache-2.0
// An analysis for people to read.
#pragma once
#include <string>

#include "harness/sass/analysis.hpp"

namespace assay::sass {

std::string report_text(const KernelAnalysis& kernel, const CostTable& table, bool listing);

}  // namespace assay::sass

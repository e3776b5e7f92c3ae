// SPDX-License-Identifier: Apache-2.0
// The generated page of documentation, docs/probes.md.
#pragma once
#include <string>
#include <vector>

#include "harness/probe.hpp"

namespace assay::commands {

// The file that registers the probe, as seen from the root of the sources it was built from.
std::string source_of(const Probe& probe);

// A section for each probe: what its file's header comment says, its metrics and its cases. Reads
// the sources, so it is made in their root.
std::string probes_page(const std::vector<Selected>& cases);

}  // namespace assay::commands

// SPDX-License-Identifier: Apache-2.0
// Which cases a person means.
#pragma once
#include <regex>
#include <string>
#include <vector>

#include "harness/probe.hpp"

namespace assay {

// Cases whose full name matches `filter`, a regular expression found anywhere in the name ("" means
// all; a leading '-' takes the rest as what to leave out, as Google Benchmark does), within the
// suite: "quick", "full", or "host" (what needs no GPU). An exact name is taken from any suite.
// Throws Error(usage) if nothing matches, with the nearest names; or if the expression is not one.
std::vector<Selected> select(const std::string& filter, const std::string& suite);

// A person's filter as an expression (POSIX extended). Throws Error(usage) if it is none.
std::regex filter_expression(const std::string& filter);

// The names most like `text`, best first: those that contain it, then by edit distance.
std::vector<std::string> nearest(const std::string& text, const std::vector<std::string>& names,
                                 std::size_t count = 3);

}  // namespace assay

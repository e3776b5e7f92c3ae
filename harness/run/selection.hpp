// SPDX-License-Identifier: Apache-2.0
// Which cases a person means.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "harness/probe.hpp"

namespace re2 {
class RE2;
}

namespace assay {

// Cases whose full name matches `filter`, a regular expression found anywhere in the name ("" means
// all; a leading '-' takes the rest as what to leave out, as Google Benchmark does), within the
// suite: "quick", "full", or "host" (what needs no GPU). An exact name is taken from any suite.
// Throws Error(usage) if nothing matches, with the nearest names; or if the expression is not one.
std::vector<Selected> select(const std::string& filter, const std::string& suite);

// A person's regular expression (RE2's: no back-references, so that no expression is slow).
class Filter {
 public:
  // Throws Error(usage) if `expression` is none, or longer or larger than any that a person means.
  explicit Filter(const std::string& expression);
  bool is_in(const std::string& text) const;  // anywhere

 private:
  std::shared_ptr<const re2::RE2> expression_;
};

// The names most like `text`, best first: those that contain it, then by edit distance.
std::vector<std::string> nearest(const std::string& text, const std::vector<std::string>& names,
                                 std::size_t count = 3);

}  // namespace assay

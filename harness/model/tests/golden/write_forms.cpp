// SPDX-License-Identifier: Apache-2.0
// assay_golden_forms [NAME...]: writes forms for scripts/record_golden.py, those named or all. A
// text header line each, then its PTX and its input.
#include <cstdio>
#include <set>
#include <string>

#include "harness/model/tests/golden/forms.hpp"

int main(int count, char** words) {
  const std::set<std::string> wanted(words + 1, words + count);
  std::set<std::string> unknown = wanted;
  const auto all = assay::model::golden::all_forms();
  for (const auto& f : all) unknown.erase(f.name);
  if (!unknown.empty()) {
    std::fprintf(stderr,
                 "assay_golden_forms: there is no form \"%s\"; names are the first words of the "
                 "lines of harness/model/tests/golden/silicon.txt\n",
                 unknown.begin()->c_str());
    return 2;
  }
  for (const auto& f : all) {
    if (!wanted.empty() && !wanted.contains(f.name)) continue;
    std::printf("%s %d %d %d %d %d %d %d %zu %zu\n", f.name.c_str(), f.cases, f.threads,
                f.shared_bytes, f.output_bytes, f.map_of_input, f.map_of_output, f.values_of,
                f.ptx.size(), f.input.size());
    std::fwrite(f.ptx.data(), 1, f.ptx.size(), stdout);
    std::fwrite(f.input.data(), 1, f.input.size(), stdout);
  }
}

// SPDX-License-Identifier: Apache-2.0
// Writes every form for scripts/record_golden.py: a text header line, then its PTX and its input.
#include <cstdio>

#include "harness/model/tests/golden/forms.hpp"

int main() {
  for (const auto& f : assay::model::golden::all_forms()) {
    std::printf("%s %d %d %d %d %d %d %d %zu %zu\n", f.name.c_str(), f.cases, f.threads,
                f.shared_bytes, f.output_bytes, f.map_of_input, f.map_of_output, f.values_of,
                f.ptx.size(), f.input.size());
    std::fwrite(f.ptx.data(), 1, f.ptx.size(), stdout);
    std::fwrite(f.input.data(), 1, f.input.size(), stdout);
  }
}

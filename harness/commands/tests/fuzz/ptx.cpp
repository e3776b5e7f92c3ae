// SPDX-License-Identifier: Apache-2.0
// Instruction forms as a person writes them.
#include <string>

#include "harness/commands/tests/fuzz/reader.hpp"
#include "harness/isa/form.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // With a semicolon it is text, not the name of a file.
  const std::string text = std::string(assay::text_of(data, size)) + " ;\n";
  assay::must_survive([&] { assay::isa::forms_from(text); });
  return 0;
}

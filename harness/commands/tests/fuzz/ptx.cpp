// SPDX-License-Identifier: Apache-2.0
// Instruction forms as a person writes them.
#include <string>

#include "harness/commands/tests/fuzz/reader.hpp"
#include "harness/isa/form.hpp"

namespace assay {
namespace {

const FuzzedReader reader("ptx", [](std::string_view input) {
  // With a semicolon it is text, not the name of a file.
  const std::string text = std::string(input) + " ;\n";
  must_survive([&] { isa::forms_from(text); });
});

}  // namespace
}  // namespace assay

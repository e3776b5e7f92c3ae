// SPDX-License-Identifier: Apache-2.0
// Forms to evidence, by assembling them and disassembling what came out.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/isa/form.hpp"
#include "harness/isa/support.hpp"

namespace assay::isa {

// One piece of evidence for each form. Forms share modules of a few dozen, since starting the
// assembler or the disassembler costs more than an instruction; one that is rejected is found by
// the lines that the assembler complains about, taken out, and the rest assembled again. Nothing is
// remembered. Throws what assemble() does of `architecture`, Error(unfit) if a tool is missing.
std::vector<Evidence> examine(std::span<const Form* const> forms, std::string_view architecture);

// One remark of the assembler.
struct Remark {
  int line = 0;        // 0: none named
  bool error = false;  // else a warning or an advice
  std::string text;    // without place and severity
};
std::vector<Remark> remarks(std::string_view log);

}  // namespace assay::isa

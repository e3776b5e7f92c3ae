// SPDX-License-Identifier: Apache-2.0
// Forms as a module to be assembled, such that what a form becomes can be read off by subtraction.
//
// A form's kernel loads every register that the form reads, executes it, and stores those that it
// writes. Its frame is the same kernel without the form; forms with the same registers share one.
// Loads and stores are volatile, so none can be merged, moved past another or left out: what the
// kernel has more than its frame is the form. None of these kernels is ever run.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/isa/form.hpp"

namespace assay::isa {

// A form in a module. Lines count from 1, as the assembler counts them.
struct FormPlace {
  int begin = 0, end = 0;  // lines of its kernel, the end past it
  int own = 0;             // the line that holds its text
  std::string kernel, frame;
};

struct Module {
  std::string ptx;
  std::vector<FormPlace> forms;  // as given
};

// None of the forms may be a module itself (is_module()).
Module module_text(std::span<const Form* const> forms, std::string_view architecture);

}  // namespace assay::isa

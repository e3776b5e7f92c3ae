// SPDX-License-Identifier: Apache-2.0
// The matrix for people and for programs.
#pragma once
#include <string>

#include "harness/isa/matrix.hpp"

namespace assay::isa {

// "N", "E", "x2", ".": a cell of the tables; with '!' if the assembler said something.
std::string cell(const Verdict& verdict);
// What is worth saying beyond that: "2 FFMA", or why it is rejected.
std::string remark(const Verdict& verdict);
// "90a": the head of a column.
std::string column(const std::string& target);
// A form's name without its group.
std::string short_name(const Form& form);

// "1536 forms x 12 targets by nvJitLink 13.0: 9000 native, ..."
std::string summary(const Matrix& matrix);

// An aligned table for each group, a legend and a summary. With `details`, under each form what it
// becomes, where it is not one bare instruction, and why it is rejected.
std::string to_text(const Matrix& matrix, bool details);

// Grouped Markdown tables, the legend first.
std::string to_markdown(const Matrix& matrix);

// {"schema": "assay.isa/1", "assembler", "targets", "forms": [{"name", "group", "ptx", "timed",
// "targets": {"sm_90a": {"status", "count", "opcodes", "calls", "words", "advice"}}}]}; keys that
// would be empty are left out of a target's object, except status, count and opcodes.
std::string to_json(const Matrix& matrix);

}  // namespace assay::isa

// SPDX-License-Identifier: Apache-2.0
// Every row of every instruction table of the program, timed or not.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "harness/instruction/row_probe.hpp"

namespace assay {

struct RegisteredRow {
  std::string name;   // of the case for a timed row, "sass/ffma/f32"; else the group's and its own
  std::string group;  // the probe, or what InstructionForms says
  InstructionRow row;
};

// Sorted by name.
const std::vector<RegisteredRow>& instruction_rows();

// The row of that name, or nullptr.
const InstructionRow* find_instruction(std::string_view name);

// Called by instruction_probe(); names become "<group>/<row.name>".
void register_instruction_rows(const std::string& group, const std::vector<InstructionRow>& rows);

// Rows that are only for the instruction x target matrix: a namespace-scope
// `const assay::InstructionForms forms{"group", rows()};`.
class InstructionForms {
 public:
  InstructionForms(const std::string& group, const std::vector<InstructionRow>& rows) {
    register_instruction_rows(group, rows);
  }
};

}  // namespace assay

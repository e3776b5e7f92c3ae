// SPDX-License-Identifier: Apache-2.0
// A short way to write many PTX texts, for the tables of probes/isa and for `assay isa --ptx`.
//
//   add.(f32|f64)       alternatives, which multiply: "(|.ftz)" is with and without
//   {%r[4:6]}           a run of registers: "{%r4, %r5}"
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "harness/instruction/row_probe.hpp"

namespace assay::notation {

// All texts that `line` stands for, in the order written. Parentheses without '|' stay. Throws
// Error(usage) where they are more than 20,000, or 16 MiB together; rows_of() does, of all lines.
std::vector<std::string> expand(const std::string& line);

// Rows that are only for the matrix, from lines of PTX in this notation; lines that are empty or a
// comment are left out.
// A row is named by its first instruction, up to the blank, and by what follows a '#' on its line,
// where two differ in operands alone: "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
// "ld.global.b32 offset".
std::vector<InstructionRow> rows_of(std::string_view lines);

// The first instruction's opcode with modifiers, without guard: "add.s32".
std::string mnemonic(std::string_view ptx);

}  // namespace assay::notation

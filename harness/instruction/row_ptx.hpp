// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "harness/instruction/row_probe.hpp"

namespace assay {

// Of one of its registers: 16, 32 or 64. A predicate is loaded and stored as 32 bits, 0 or not.
int register_bits(const Operand& operand);

// What the registers of a chain start with.
std::uint64_t chain_start(const InstructionRow& row, int chain);
// What each register of the row's input `i` holds when all its elements are alike; 0 if there is
// none.
std::uint64_t input_bits(const InstructionRow& row, std::size_t i);

// <name> and <name.i> in a row's text as registers of the operand, such as "%d3_0" for register 0
// of <d> in chain 3; inputs have no chain (-1).
std::string fill_in(std::string text, const Operand& operand, int chain);
// "%d3_0, %d3_1": all its registers, for a declaration.
std::string tuple(const Operand& operand, int chain);

// The PTX of a kernel of rows. Throws Error(usage) when a text names an undeclared operand.
std::string instruction_ptx(std::span<const InstructionRow> rows, const KernelShape& shape,
                            const std::string& entry, Target target);

}  // namespace assay

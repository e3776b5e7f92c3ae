// SPDX-License-Identifier: Apache-2.0
// Finds which element each register of an MMA's operands holds, by running it on chosen operands.
//
// The accumulators show row and column when both are written in binary along K: A[row][k] is bit k
// of the row, B[k][column] is 2^k, and the other way round. A register of A or B shows itself when
// it alone holds a one: the only row (or column) of D that is not zero is its own, and the other
// operand spells k in binary across the columns (rows) of that. wgmma takes what a map does not
// concern from shared memory, whose layout TMA shares. mma.sync takes all from registers, so that
// each of its maps is found relative to the other two, which are taken as documented.
#pragma once
#include <optional>
#include <vector>

#include "harness/callable.hpp"
#include "probes/numerics/block_layout.hpp"

namespace assay::numerics {

// Runs MMAs on operands in blocks of memory and returns the registers of D of each.
using RunBlocks = Callable<std::vector<Block>(const std::vector<Block>&)>;

// Of every slot of the operand, in the order of MmaInstruction::slots(): what it holds, or none.
std::vector<std::optional<Position>> discover(const MmaInstruction& instruction, Operand operand,
                                              const BlockLayout& layout, const RunBlocks& run);

}  // namespace assay::numerics

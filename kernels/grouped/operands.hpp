// SPDX-License-Identifier: Apache-2.0
// The operands of a grouped product.
#pragma once
#include <span>
#include <vector>

#include "kernels/frame/operand_sets.hpp"
#include "kernels/grouped/grouped.hpp"

namespace assay::kernels {

// Of groups whose sizes, as the kernel is given them, are these: in the order of GroupedOperands.
std::vector<Operand> grouped_operands(const GroupedProblem& problem, const std::vector<int>& sizes);

// The same, where memory of that order lies at `set`.
GroupedOperands grouped_operands_of(std::span<void* const> set);

}  // namespace assay::kernels

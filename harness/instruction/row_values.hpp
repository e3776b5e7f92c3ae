// SPDX-License-Identifier: Apache-2.0
// What a generated kernel of rows reads, and what it must leave.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "harness/instruction/row_probe.hpp"

namespace assay {

// After so many iterations values are checked: few enough for sums to be exact in every format.
inline constexpr int kCheckedIterations = 2;

// What `in` holds of a row, in the order instruction_ptx.cpp documents. With `random`, inputs are
// drawn from it; without, all elements of an input are alike, for checking.
void append_inputs(const InstructionRow& row, const KernelShape& shape, std::mt19937_64* random,
                   std::vector<std::uint64_t>& slots);

// What of `out`, from `slot` on, is not what the row's step makes of such inputs in
// kCheckedIterations; "" if nothing. `slot` is moved behind the row.
std::string wrong_values(const InstructionRow& row, const KernelShape& shape,
                         const std::vector<std::uint64_t>& out, std::size_t& slot);

}  // namespace assay

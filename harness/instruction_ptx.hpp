// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "harness/instruction_probe.hpp"

namespace assay {

// The PTX of a row's kernel. Throws Error(usage) when its text names an undeclared operand.
std::string instruction_ptx(const InstructionRow& row, const KernelShape& shape,
                            const std::string& entry, Target target);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// Calls of functions that the compiler did not inline. PTX ISA 9.0, "call", "Function Calls".
#pragma once
#include "harness/model/ptx/module.hpp"

namespace assay::model {

// Puts the bodies of the functions that the module's kernels call in place of the calls, each with
// registers and local variables of its own. Calls that cannot be replaced stay: of functions
// without a body, of a function by itself, through a register, with arguments that are no .param
// variables.
void inline_calls(Module& module);

}  // namespace assay::model

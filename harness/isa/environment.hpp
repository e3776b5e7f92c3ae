// SPDX-License-Identifier: Apache-2.0
// The registers that a form's text may name without declaring them.
//
// Numbered ones are per thread and called as nvcc calls them; the others say what they hold. All
// have values known at run time only. Those marked uniform are the same in all threads, as TMA and
// tensor-memory instructions need their operands to be.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace assay::isa {

struct Register {
  std::string name;  // "%r0"
  std::string type;  // as after .reg: "b32"
  bool uniform = false;
};

// The register called `name`, with its '%'; nothing if the environment has none.
std::optional<Register> environment_register(std::string_view name);

// For help: one line for each class of registers.
std::string environment_text();

}  // namespace assay::isa

// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/templated_kernel.hpp"

#include <fmt/format.h>

namespace assay::kernels {

std::string name_in_source(const TemplatedKernel& kernel) {
  std::string arguments;
  for (int i = 0; i < kernel.count; ++i) {
    const TemplateArgument& argument = kernel.arguments[i];
    if (i > 0) arguments += ", ";
    arguments += argument.is_flag ? (argument.value != 0 ? "true" : "false")
                                  : fmt::format("{}", argument.value);
  }
  return fmt::format("{}<{}>", kernel.name, arguments);
}

std::string name_in_linker(const TemplatedKernel& kernel) {
  std::string arguments;
  for (int i = 0; i < kernel.count; ++i) {
    const TemplateArgument& argument = kernel.arguments[i];
    arguments += fmt::format("L{}{}E", argument.is_flag ? 'b' : 'i', argument.value);
  }
  return fmt::format("{}I{}E", kernel.name, arguments);
}

}  // namespace assay::kernels

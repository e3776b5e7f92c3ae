// SPDX-License-Identifier: Apache-2.0
// A kernel that is an instance of a template: what it is called. Templates of kernels have hundreds
// of instances, so that what is instantiated with each is numbers and an address alone; names are
// made of them here, which is compiled once.
#pragma once
#include <array>
#include <string>

namespace assay::kernels {

// An argument of a kernel's template: an int or a bool.
struct TemplateArgument {
  bool is_flag = false;
  int value = 0;
  constexpr TemplateArgument() = default;
  constexpr TemplateArgument(int number) : value(number) {}
  constexpr TemplateArgument(bool flag) : is_flag(true), value(flag) {}
};

struct TemplatedKernel {
  const char* name = nullptr;  // the template's
  std::array<TemplateArgument, 10> arguments = {};
  int count = 0;  // of the arguments
  const void* kernel = nullptr;
};

// As the source spells it: "gemm_sm90<0, 0, true>".
std::string name_in_source(const TemplatedKernel& kernel);

// Part of what the linker and PTX call it, which no other's name has, by the Itanium C++ ABI:
// "gemm_sm90ILi0ELi0ELb1EE".
std::string name_in_linker(const TemplatedKernel& kernel);

}  // namespace assay::kernels

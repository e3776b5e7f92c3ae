// SPDX-License-Identifier: Apache-2.0
// What is asked of a caller's arguments before anything is launched. Each throws Error(usage) that
// names the function and the argument.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace assay::kernels {

struct PointerArgument {
  const char* name;
  const void* value;
  std::size_t alignment = 16;
};

// No GPU is needed to tell.
void require_pointers(const std::string& function, std::initializer_list<PointerArgument> pointers);

// As an int; sizes that are none are the operation's to refuse.
int require_size(const std::string& function, const char* name, std::int64_t size);

// One of `count` things, which `what` calls in the plural.
void require_index(const std::string& function, const char* what, int index, std::size_t count);

// The name of number `value` of a C enumeration, "" where it has a gap.
std::string require_name(const std::string& function, const char* name, int value,
                         std::span<const std::string_view> names);

// Memory and stream are of the current device. Null pointers are optional arguments that are not
// there.
void require_here(const std::string& function, std::initializer_list<PointerArgument> pointers,
                  void* stream);

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// Runs one of NVIDIA's tools on bytes in memory, or a function in a process of its own.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/callable.hpp"

namespace assay {

struct ToolOutput {
  int status = 0;      // exit status; 128 + signal if it was killed
  std::string text;    // standard output
  std::string errors;  // standard error
};

// Stands for `input` in the arguments of run_tool(): a file the tool can open, held in memory.
inline constexpr const char* kToolInput = "/dev/fd/3";

// Runs `arguments` (the first is the program's path) to its end, in `folder` if one is given.
// Thread-safe. Throws Error(io) if it cannot be started.
ToolOutput run_tool(const std::vector<std::string>& arguments, std::span<const char> input = {},
                    const std::filesystem::path& folder = {});

// What `f` returns, called in a process of its own that may take a second and 64 MiB; nothing if it
// ends otherwise or returns more than `longest` bytes. For calls that may never end.
std::optional<std::string> call_apart(const Callable<std::string()>& f, std::size_t longest);

// The signal that kills a process of its own which calls `f`, or 0: for libraries that may crash.
// What goes wrong in other ways does so again for who calls it afterwards, and is told there.
// Throws Error(unfit) if there can be no process. Call it before there are threads.
int signal_that_ends(const Callable<void()>& f);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "harness/commands/startup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

namespace assay::commands {
namespace {

// The loader separates by either character, the others by ':' alone.
std::string absolute_entries(std::string_view list, const char* separators) {
  std::string kept;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find_first_of(separators, begin), list.size());
    const std::string_view entry = list.substr(begin, end - begin);
    if (entry.starts_with('/')) kept.append(kept.empty() ? "" : ":").append(entry);
    begin = end + 1;
  }
  return kept;
}

// Whether there was something to take out.
bool keep_absolute_entries(const char* variable, const char* separators) {
  const char* value = std::getenv(variable);
  if (!value || !*value) return false;
  const std::string kept = absolute_entries(value, separators);
  if (kept == value) return false;
  if (kept.empty())
    ::unsetenv(variable);
  else
    ::setenv(variable, kept.c_str(), 1);
  return true;
}

}  // namespace

void open_closed_descriptors() {
  for (int descriptor = 0; descriptor < 3; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      // The lowest free number is taken: this one. What was to be written to 1 fails.
      (void)::open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY);
}

void forget_current_folder(char** argv) {
  keep_absolute_entries("PATH", ":");
  keep_absolute_entries("PYTHONPATH", ":");
  if (keep_absolute_entries("LD_LIBRARY_PATH", ":;")) ::execv("/proc/self/exe", argv);
}

}  // namespace assay::commands

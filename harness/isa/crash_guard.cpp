// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/crash_guard.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <span>

#include "harness/error.hpp"
#include "harness/isa/matrix.hpp"

namespace assay::isa {
namespace {

// The signal that judging them ends with, or 0. What goes wrong in other ways does so again in this
// process, and is told there.
int signal_of(std::span<const Form> forms, const std::vector<std::string>& targets,
              const Callable<void(std::size_t, std::size_t)>& progress) {
  const pid_t child = fork();
  if (child < 0)
    throw Error(ExitCode::unfit,
                fmt::format("cannot start a process for the assembler: {}", std::strerror(errno)));
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    try {
      judge_all({forms.begin(), forms.end()}, targets, progress);
    } catch (const std::exception&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void mark(std::span<Form> forms, const std::vector<std::string>& targets,
          const Callable<void(std::size_t, std::size_t)>& progress) {
  const int signal = signal_of(forms, targets, progress);
  if (signal == 0) return;
  if (forms.size() == 1) {
    forms.front().problem = fmt::format("the assembler crashes on it ({})", strsignal(signal));
    return;
  }
  mark(forms.first(forms.size() / 2), targets, progress);
  mark(forms.subspan(forms.size() / 2), targets, progress);
}

}  // namespace

void mark_crashes(std::vector<Form>& forms, const std::vector<std::string>& targets,
                  const Callable<void(std::size_t, std::size_t)>& progress) {
  mark(forms, targets, progress);
}

}  // namespace assay::isa

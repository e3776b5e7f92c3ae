// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/crash_guard.hpp"

#include <fmt/format.h>

#include <cstring>
#include <span>

#include "harness/isa/matrix.hpp"
#include "harness/machine/process.hpp"

namespace assay::isa {
namespace {

void mark(std::span<Form> forms, const std::vector<std::string>& targets,
          const Callable<void(std::size_t, std::size_t)>& progress) {
  const int signal = signal_that_ends([&] {
    judge_all({forms.begin(), forms.end()}, targets, progress);
  });
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

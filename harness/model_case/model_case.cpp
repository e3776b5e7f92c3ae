// SPDX-License-Identifier: Apache-2.0
#include "harness/model_case/model_case.hpp"

#include <algorithm>
#include <cstddef>

#include "harness/code/cubin.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {

std::vector<ModelCase>& all() {
  static std::vector<ModelCase> cases;
  return cases;
}

}  // namespace

ModelCase::Registration::Registration(ModelCase one) { all().push_back(std::move(one)); }

ModelCase::Registration::Registration(std::vector<ModelCase> many) {
  for (ModelCase& one : many) all().push_back(std::move(one));
}

const std::vector<ModelCase>& model_cases() {
  std::ranges::sort(all(), {}, &ModelCase::name);
  return all();
}

std::string ptx_of_alone(std::string_view kernel) {
  const std::string ptx = ptx_of(kernel);
  std::string kept;
  bool skipping = false;
  std::ptrdiff_t depth = 0;  // of braces; asm statements have some at the begin of a line
  for (std::size_t begin = 0; begin < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', begin), ptx.size() - 1) + 1;
    const std::string_view line = std::string_view(ptx).substr(begin, end - begin);
    begin = end;
    if (line.find(".entry ") != line.npos) skipping = line.find(kernel) == line.npos;
    if (!skipping) kept += line;
    const std::ptrdiff_t before = depth;
    depth += std::ranges::count(line, '{') - std::ranges::count(line, '}');
    if (before > 0 && depth == 0) skipping = false;
  }
  return kept;
}

std::string ptx_of(std::string_view kernel) {
  std::string found;
  visit_ptx("/proc/self/exe", [&](std::string_view text) {
    // The first of several targets' is as good as another: a kernel of one architecture has one.
    for (auto at = text.find(".entry "); at != text.npos && found.empty();
         at = text.find(".entry ", at + 1)) {
      const std::string_view name = text.substr(at + 7, text.find('(', at) - at - 7);
      if (name.find(kernel) != name.npos) found = text;
    }
  });
  if (found.empty())
    throw Error(ExitCode::unfit, "this program holds no PTX of a kernel '" + std::string(kernel) +
                                     "': build it for the kernel's target");
  return found;
}

}  // namespace assay

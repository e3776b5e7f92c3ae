// SPDX-License-Identifier: Apache-2.0
#include "harness/model_case/model_case.hpp"

#include <algorithm>
#include <cstddef>
#include <list>

#include "harness/code/cubin.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {

std::vector<ModelCase>& all() {
  static std::vector<ModelCase> cases;
  return cases;
}

// The PTX of one object file, and the names of the kernels in it.
struct Text {
  std::string whole;
  std::vector<std::string_view> entries;
};

// A list, as the names point into the texts.
const std::list<Text>& program_texts() {
  static const std::list<Text> texts = [] {
    std::list<Text> found;
    visit_ptx("/proc/self/exe", [&](std::string_view whole) {
      Text& text = found.emplace_back(std::string(whole));
      const std::string_view own = text.whole;
      constexpr std::string_view kEntry = ".entry ";
      for (auto at = own.find(kEntry); at != own.npos; at = own.find(kEntry, at + 1)) {
        const std::size_t begin = at + kEntry.size();
        text.entries.push_back(own.substr(begin, own.find('(', at) - begin));
      }
    });
    return found;
  }();
  return texts;
}

const Text& text_of(std::string_view kernel) {
  for (const Text& text : program_texts())
    for (const std::string_view entry : text.entries)
      // The first of several targets' is as good as another: a kernel of one architecture has one.
      if (entry.find(kernel) != entry.npos) return text;
  throw Error(ExitCode::unfit, "this program holds no PTX of a kernel '" + std::string(kernel) +
                                   "': build it for the kernel's target");
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

std::string ptx_of(std::string_view kernel, std::string_view second) {
  const std::string_view ptx = text_of(kernel).whole;
  std::string kept;
  bool skipping = false;
  std::ptrdiff_t depth = 0;  // of braces; asm statements have some at the begin of a line
  for (std::size_t begin = 0; begin < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', begin), ptx.size() - 1) + 1;
    const std::string_view line = ptx.substr(begin, end - begin);
    begin = end;
    const auto names = [&](std::string_view one) { return line.find(one) != line.npos; };
    if (names(".entry ")) skipping = !names(kernel) && (second.empty() || !names(second));
    if (!skipping) kept += line;
    const std::ptrdiff_t before = depth;
    depth += std::ranges::count(line, '{') - std::ranges::count(line, '}');
    if (before > 0 && depth == 0) skipping = false;
  }
  return kept;
}

}  // namespace assay

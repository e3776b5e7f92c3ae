// SPDX-License-Identifier: Apache-2.0
#include "harness/commands/sass_show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "harness/code/cubin.hpp"
#include "harness/code/elf.hpp"
#include "harness/code/verification.hpp"
#include "harness/commands/commands.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/machine/files.hpp"
#include "harness/run/selection.hpp"
#include "harness/sass/analysis.hpp"
#include "harness/sass/measured_loops.hpp"
#include "harness/sass/report_json.hpp"
#include "harness/sass/report_text.hpp"

namespace assay::commands {
namespace {

constexpr std::size_t kMostKernels = 20;  // shown without being asked for by name
constexpr std::size_t kMostImages = std::size_t{512} << 20;  // bytes of device code shown at once
constexpr std::size_t kMostCode = std::size_t{32} << 20;     // of its instructions

// One table for each architecture, and the file of measured loops. Files that were named are read
// at once: what is wrong with them is said before anything is disassembled, which may take long.
class Sources {
 public:
  explicit Sources(const SassView& view) : view_(view) {
    if (!view.table.empty()) named_ = sass::CostTable::read(view.table);
    if (!view.measured.empty()) measured_.emplace(view.measured, view.measured);
  }

  const sass::CostTable& table(const std::string& arch) {
    if (named_) return *named_;
    const auto found = tables_.find(arch);
    if (found != tables_.end()) return found->second;
    return tables_.emplace(arch, sass::CostTable::newest(arch)).first->second;
  }

  // nullptr if there is none.
  const sass::MeasuredLoops* measured(const std::string& arch) {
    const std::filesystem::path file = view_.measured.empty() ? table(arch).file() : view_.measured;
    if (file.empty()) return nullptr;
    auto found = measured_.find(file);
    if (found == measured_.end()) found = measured_.emplace(file, sass::MeasuredLoops(file)).first;
    return &found->second;
  }

 private:
  const SassView& view_;
  std::optional<sass::CostTable> named_;
  std::map<std::string, sass::CostTable> tables_;
  std::map<std::filesystem::path, sass::MeasuredLoops> measured_;
};

sass::KernelAnalysis analysis_of(const std::shared_ptr<const Function>& function,
                                 const SassView& view, Sources& sources) {
  sass::AnalysisOptions options{.warps = view.warps};
  if (view.all) options.hot = function->code.size();
  sass::KernelAnalysis kernel = sass::analyse(function, sources.table(function->arch), options);
  if (const sass::MeasuredLoops* measured = sources.measured(function->arch))
    for (sass::LoopAnalysis& hot : kernel.hot) hot.measured = measured->find(*function, hot);
  return kernel;
}

// Of the kernels of a case: the loop that it measures.
sass::KernelAnalysis analysis_of(const KernelCode& code, const SassRecord& record,
                                 const Selected& selected, bool first_kernel, const SassView& view,
                                 Sources& sources) {
  const Function& function = *code.function;
  sass::AnalysisOptions options{.warps = view.warps, .loop = code.loop};
  if (options.warps == 0 && selected.which->params.contains("threads"))
    options.warps = static_cast<int>((selected.which->i64("threads") + 31) / 32);
  sass::KernelAnalysis kernel = sass::analyse(code.function, sources.table(function.arch), options);
  if (const sass::MeasuredLoops* measured = sources.measured(function.arch))
    for (sass::LoopAnalysis& hot : kernel.hot)
      hot.measured = measured->find(function, hot, selected.name, record, first_kernel);
  return kernel;
}

// Text as it comes, JSON at the end, and the picture of the first loop there is.
class Output {
 public:
  explicit Output(const SassView& view) : view_(view) {}

  void add(const sass::KernelAnalysis& kernel, const sass::CostTable& table) {
    if (view_.json)
      objects_.push_back(sass::report_json(kernel, table, !view_.brief));
    else
      fmt::print("{}\n", sass::report_text(kernel, table, !view_.brief));
    if (!view_.svg.empty() && !drawn_ && !kernel.hot.empty()) {
      const std::string document = sass::document_json({sass::report_json(kernel, table, true)});
      write_atomically(view_.svg, made_by("assay-sass-timeline", document));
      drawn_ = true;
    }
  }

  // Throws Error(usage) if there was no loop to draw.
  void finish() const {
    if (view_.json) fmt::print("{}", sass::document_json(objects_));
    if (view_.svg.empty()) return;
    if (!drawn_) throw Error(ExitCode::usage, "no loop to draw: choose a kernel that has one");
    tell(view_.svg.string());
  }

 private:
  const SassView& view_;
  std::vector<std::string> objects_;
  bool drawn_ = false;
};

// What a file holds, without the code of kernels nobody asked for.
struct Found {
  using Names = std::map<std::string, std::set<std::string>>;  // demangled to architectures
  std::vector<std::string> damaged;     // what is wrong with images passed over
  std::set<std::string> architectures;  // of all there is
  Names names, asked;                   // of all kernels, and of those asked for
  std::vector<std::pair<std::vector<char>, std::vector<std::string>>> images;  // ELF and symbols
  std::size_t kernels = 0, bytes = 0;                                          // in images
};

Found find_kernels(const std::filesystem::path& file, const std::string& kernel,
                   const std::vector<std::string>& architectures, bool all) {
  Found found;
  visit_device_code(
      file,
      [&](DeviceCode code) {
        found.architectures.insert(code.arch);
        if (!architectures.empty() &&
            std::ranges::find(architectures, code.arch) == architectures.end())
          return;
        std::vector<std::string> wanted;
        for (const std::string& symbol : code.kernels) {
          const std::string name = demangled(symbol);
          found.names[name].insert(code.arch);
          if (!kernel.empty() && !is_kernel(symbol, kernel)) continue;
          found.asked[name].insert(code.arch);
          wanted.push_back(symbol);
        }
        if (wanted.empty()) return;
        found.kernels += wanted.size();
        if (found.kernels > kMostKernels && !all) return found.images.clear();  // only to be listed
        found.bytes += code.elf.size();
        if (found.bytes > kMostImages)
          throw Error(ExitCode::usage,
                      fmt::format("the kernels asked for lie in more than {} bytes of device code: "
                                  "choose with FILE:KERNEL and --target",
                                  kMostImages));
        found.images.emplace_back(std::move(code.elf), std::move(wanted));
      },
      [&](const Error& error) { found.damaged.emplace_back(error.what()); });
  return found;
}

[[noreturn]] void refuse(const Found& found, const std::filesystem::path& file,
                         const std::string& kernel, const std::vector<std::string>& architectures) {
  const bool any_wanted =
      architectures.empty() || std::ranges::any_of(architectures, [&](const std::string& arch) {
        return found.architectures.contains(arch);
      });
  if (found.architectures.empty() && !found.damaged.empty())
    throw Error(ExitCode::usage, fmt::format("{}: {}", file.string(), found.damaged.front()));
  if (!any_wanted)
    throw Error(ExitCode::usage,
                fmt::format("{} holds no code for {}; choose --target from {}", file.string(),
                            fmt::join(architectures, " "), fmt::join(found.architectures, " ")));
  if (found.names.empty())
    throw Error(
        ExitCode::usage,
        fmt::format("{} holds device code for {}, but no kernel: its symbols were stripped, "
                    "or it has device functions alone; build it again and keep symbols",
                    file.string(), fmt::join(found.architectures, " ")));
  std::vector<std::string> names;
  for (const auto& [name, where] : found.names) names.push_back(name);
  throw Error(ExitCode::usage,
              fmt::format("{} has no kernel '{}', but {}; `assay sass {}` lists all", file.string(),
                          kernel, fmt::join(nearest(kernel, names), ", "), file.string()));
}

void list_kernels(const Found& found, const std::filesystem::path& file) {
  for (const auto& [name, architectures] : found.asked)
    fmt::print("{:<16} {}\n", fmt::join(architectures, " "), name);
  tell(fmt::format("{} kernels; `assay sass {}` shows one, --all every one of them",
                   found.asked.size(), shell_word(file.string() + ":KERNEL")));
}

}  // namespace

ExitCode show_file(const std::filesystem::path& file, const std::string& kernel,
                   const std::vector<std::string>& architectures, const SassView& view) {
  const Found found = find_kernels(file, kernel, architectures, view.all);
  for (const std::string& what : found.damaged)
    tell(fmt::format("{}: passed over: {}", file.string(), what));
  if (found.kernels == 0) refuse(found, file, kernel, architectures);
  if (found.images.empty()) {
    list_kernels(found, file);
    return ExitCode::ok;
  }
  std::vector<FunctionRef> refs;
  std::size_t code = 0;
  for (const auto& [elf, symbols] : found.images) {
    const ElfImage image(elf);
    for (const std::string& symbol : symbols) {
      refs.push_back({elf, symbol});
      if (const ElfSection* text = image.section(".text." + symbol)) code += text->bytes.size();
    }
  }
  if (code > kMostCode)
    throw Error(ExitCode::usage,
                fmt::format("the kernels asked for have {} bytes of instructions; at most {} are "
                            "shown: choose with FILE:KERNEL and --target",
                            code, kMostCode));
  Sources sources(view);
  Output output(view);
  std::vector<std::string> problems;
  std::vector<Function> functions;
  try {
    functions = disassemble_anew(refs);
  } catch (const Error& error) {
    // What cannot be disassembled here is what was given, not what was built.
    const ExitCode code = error.code() == ExitCode::failed ? ExitCode::usage : error.code();
    throw Error(code, file.string() + ": " + error.what());
  }
  for (Function& read : functions) {
    if (!read.problem.empty()) {
      problems.push_back(fmt::format("{}: {}", file.string(), read.problem));
      continue;
    }
    const auto function = std::make_shared<const Function>(std::move(read));
    output.add(analysis_of(function, view, sources), sources.table(function->arch));
  }
  if (problems.size() == refs.size()) throw Error(ExitCode::usage, problems.front());
  for (const std::string& problem : problems) tell(problem);
  output.finish();
  return problems.empty() ? ExitCode::ok : ExitCode::failed;  // what can be shown is
}

ExitCode show_cases(const std::vector<std::pair<Selected, Target>>& wanted, const SassView& view) {
  Sources sources(view);
  Output output(view);
  const std::vector<Verification> verified = verify_all(wanted);
  bool as_expected = true;
  for (std::size_t i = 0; i < verified.size(); ++i) {
    const Verification& v = verified[i];
    as_expected = as_expected && v.problems.empty();
    if (!view.json) fmt::print("{} for {}\n", v.name, name(v.target));
    for (std::size_t k = 0; k < v.code.size(); ++k)
      if (v.code[k].function)
        output.add(analysis_of(v.code[k], v.kernels[k], wanted[i].first, k == 0, view, sources),
                   sources.table(v.code[k].function->arch));
    for (const std::string& problem : v.problems)
      fmt::print(view.json ? stderr : stdout, "  NOT AS EXPECTED: {}\n", problem);
  }
  output.finish();
  return as_expected ? ExitCode::ok : ExitCode::failed;
}

}  // namespace assay::commands

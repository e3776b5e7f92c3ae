// SPDX-License-Identifier: Apache-2.0
// `assay sass`: what a kernel consists of, and whether that is what its probe asked for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>

#include "harness/commands/commands.hpp"
#include "harness/cubin.hpp"
#include "harness/environment.hpp"
#include "harness/error.hpp"
#include "harness/journal.hpp"
#include "harness/sass_check.hpp"
#include "harness/verification.hpp"

namespace assay::commands {
namespace {

struct Options {
  std::string what;
  std::vector<std::string> targets;
  bool check = false, quiet = false;
  std::filesystem::path out;
};

std::string census(const OpcodeCount& counts) {
  std::vector<std::pair<int, std::string>> ordered;
  for (const auto& [opcode, count] : counts) ordered.emplace_back(-count, opcode);
  std::ranges::sort(ordered);
  std::string text;
  for (const auto& [count, opcode] : ordered) text += fmt::format("  {:>6} {}\n", -count, opcode);
  return text;
}

// Any file with device code: each kernel's hot loop.
ExitCode show_file(const std::filesystem::path& file, const std::string& kernel) {
  const std::vector<DeviceCode> codes = extract(file);
  std::vector<SassRequest> requests;
  std::vector<std::string> architectures;
  std::set<std::string> names;
  for (const DeviceCode& code : codes) {
    for (const std::string& symbol : code.kernels) {
      names.insert(demangled(symbol));
      if (!kernel.empty() && !is_kernel(symbol, kernel)) continue;
      architectures.push_back(code.arch);
      requests.push_back({.elf = code.elf,
                          .symbol = symbol,
                          .target = std::nullopt,
                          .use = {.kernel = symbol, .local_memory = true}});
    }
  }
  if (requests.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no kernel '{}': it holds {}", file.string(),
                                             kernel, fmt::join(names, ", ")));
  const std::vector<SassFindings> findings = check_sass(requests);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const SassFindings& found = findings[i];
    fmt::print("{} for {}: {} registers, {} bytes of stack\n{}{}\n", demangled(requests[i].symbol),
               architectures[i], found.registers, found.stack_bytes,
               found.loop.empty() ? "no loop; the whole kernel:\n" + census(found.whole)
                                  : "measured loop:\n" + census(found.loop),
               found.loop_text);
  }
  return ExitCode::ok;
}

std::vector<std::pair<Selected, Target>> pairs(const Options& options) {
  std::vector<Target> targets;
  for (const std::string& text : options.targets) targets.push_back(parse_target(text));
  if (targets.empty()) targets = all_gpu_targets();
  std::vector<std::pair<Selected, Target>> wanted;
  for (const Selected& s : select(options.what, "full"))
    for (const Target target : targets)
      if (s.probe->exists_on(*s.which, target) && s.probe->kernels) wanted.emplace_back(s, target);
  if (wanted.empty())
    throw Error(
        ExitCode::usage,
        fmt::format("nothing that matches '{}' has kernels of its own for "
                    "{}: choose other cases or targets",
                    options.what,
                    options.targets.empty() ? "any target"
                                            : fmt::format("{}", fmt::join(options.targets, " "))));
  return wanted;
}

// A run file of what was built and disassembled but not run, for the report.
void write_run(const std::filesystem::path& folder, const std::vector<Verification>& verified,
               const std::vector<std::pair<Selected, Target>>& wanted) {
  Json header = {{"schema", kSchema}, {"environment", to_json(capture_environment(0))}};
  header["environment"]["gpu"] = nullptr;  // nothing ran, so no GPU is what was measured
  std::error_code ignored;
  std::filesystem::remove(folder / "journal.jsonl", ignored);
  Journal journal = Journal::create(folder, header);
  for (std::size_t i = 0; i < verified.size(); ++i) {
    const Verification& v = verified[i];
    Measurement m{
        .name = v.name,
        .probe = wanted[i].first.probe->name,
        .kind = wanted[i].first.probe->kind,
        .pace = wanted[i].first.probe->pace,
        .params = wanted[i].first.which->params,
        .status = v.problems.empty() ? Status::not_run : Status::failed,
        .reason = v.problems.empty() ? "built and disassembled, not run" : v.problems.front()};
    m.params["target"] = std::string(name(v.target));
    if (!v.kernels.empty()) {
      m.sass = v.kernels.front();
      m.sass->text.clear();
      if (m.sass->emulated) m.flags.emplace_back("emulated");
    }
    journal.append(to_json(m));
  }
  fmt::print("{}\n", journal.write_run_file().string());
}

ExitCode check_all(const Options& options) {
  const auto wanted = pairs(options);
  const auto verified = verify_all(wanted);
  std::size_t wrong = 0;
  for (const Verification& v : verified) {
    if (!v.problems.empty()) ++wrong;
    for (const std::string& problem : v.problems)
      fmt::print(stderr, "assay: {} for {}: {}\n", v.name, name(v.target), problem);
  }
  if (!options.out.empty()) write_run(options.out, verified, wanted);
  fmt::print(stderr, "assay: {} cases checked, {} are not what they should be\n", verified.size(),
             wrong);
  return wrong ? ExitCode::failed : ExitCode::ok;
}

ExitCode show_cases(const Options& options) {
  const auto wanted = pairs(options);
  for (const Verification& v : verify_all(wanted)) {
    fmt::print("{} for {}\n", v.name, name(v.target));
    for (const SassRecord& kernel : v.kernels)
      fmt::print("kernel {}{}\n{}{}\n", kernel.kernel, kernel.emulated ? " (emulated)" : "",
                 census(kernel.loop), kernel.text);
    for (const std::string& problem : v.problems) fmt::print("  NOT AS EXPECTED: {}\n", problem);
  }
  return ExitCode::ok;
}

ExitCode sass(const Options& options) {
  if (options.check) return check_all(options);
  if (options.what.empty())
    throw Error(ExitCode::usage,
                "say what to look at: a file, FILE:KERNEL or a case's name (see "
                "`assay sass --help`)");
  if (std::filesystem::exists(options.what)) return show_file(options.what, "");
  const auto colon = options.what.rfind(':');
  if (colon != std::string::npos && std::filesystem::exists(options.what.substr(0, colon)))
    return show_file(options.what.substr(0, colon), options.what.substr(colon + 1));
  return show_cases(options);
}

}  // namespace

void add_sass(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("sass", "The machine code of kernels: hot loop, opcodes, expectations");
  auto options = std::make_shared<Options>();
  command->add_option("WHAT", options->what,
                      "A cubin, object, executable or library (FILE or FILE:KERNEL), or the name "
                      "of cases as `assay list` shows them (a regular expression)");
  command->add_flag("--check", options->check,
                    "Check every case against what its probe expects, for every target");
  command->add_option("--target", options->targets, "Only these, such as sm_90a (default: all)");
  command->add_option("--out", options->out,
                      "With --check: folder for a run.json of what was verified, for the report");
  command->footer(
      "Needs no GPU.\n\n"
      "Examples:\n"
      "  assay sass '^memory/hbm/copy' --target sm_90a   the loop behind a figure\n"
      "  assay sass build/libassay_kernels.so:gemm       a kernel in any file\n"
      "  assay sass --check                              all cases, all targets\n\n"
      "Exit status: 0 as expected, 1 some machine code is not, 2 bad arguments or no such kernel.");
  command->callback([options, &exit_code] { exit_code = static_cast<int>(sass(*options)); });
}

}  // namespace assay::commands

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <utility>

#include "harness/commands/commands.hpp"
#include "harness/error.hpp"
#include "harness/machine/files.hpp"
#include "harness/machine/process.hpp"

namespace assay::commands {
namespace {

struct External {
  const char* name;
  const char* description;
};
constexpr External kKnown[] = {
    {"report", "Draw one or more runs as a page: tables, rooflines, comparison (assay-report)"},
    {"gate", "Did anything get slower between two runs? (assay-gate)"},
    {"ab", "Two builds in turns on one GPU: did anything get slower? (assay-ab)"},
    {"baseline", "Keep a history of runs, accept a baseline, draw what changed (assay-baseline)"},
    {"torch", "Our kernels against torch's, in torch's own process (assay-torch)"}};

// $PATH first; then beside this program, and in the project's own Python environment above it.
std::filesystem::path find(const std::string& program) {
  std::vector<std::filesystem::path> folders = folders_of("PATH");
  folders.push_back(executable_folder());
  for (const auto& folder : ancestors(executable_folder())) folders.push_back(folder / ".venv/bin");
  for (const auto& candidate : folders)
    if (is_executable(candidate / program)) return candidate / program;
  return {};
}

[[noreturn]] void refuse(const std::string& program) {
  throw Error(ExitCode::unfit,
              fmt::format("cannot start {}: run scripts/setup.sh, which installs it into .venv, "
                          "or put it on PATH",
                          program));
}

bool is_known(const char* name) {
  for (const External& external : kKnown)
    if (std::strcmp(external.name, name) == 0) return true;
  return false;
}

}  // namespace

void describe_external(CLI::App& app) {
  for (const External& external : kKnown) app.add_subcommand(external.name, external.description);
}

void run_external(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0') return;
  const auto is_asked_for = [&](const CLI::App* own) { return own->get_name() == argv[1]; };
  if (!app.get_subcommands(is_asked_for).empty()) return;
  const std::string program = "assay-" + std::string(argv[1]);
  const auto path = find(program);
  if (!path.empty()) {
    // What measures by itself, as the gate's self-test does, measures this program.
    std::error_code unknown;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
    if (!unknown) ::setenv("ASSAY_PROGRAM", self.c_str(), 1);
    argv[1] = const_cast<char*>(path.c_str());
    ::execv(path.c_str(), argv + 1);
  }
  if (is_known(argv[1]) || !path.empty()) refuse(program);
}

std::string made_by(const std::string& program, const std::string& document) {
  const auto path = find(program);
  if (path.empty()) refuse(program);
  ToolOutput output = run_tool({path.string(), kToolInput}, document);
  if (output.status != 0)
    throw Error(ExitCode::failed, fmt::format("{} refuses: {}", program,
                                              output.errors.substr(0, output.errors.find('\n'))));
  return std::move(output.text);
}

}  // namespace assay::commands

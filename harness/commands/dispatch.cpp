// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/commands/commands.hpp"
#include "harness/commands/startup.hpp"
#include "harness/error.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/run/selection.hpp"

namespace assay::commands {

namespace {

struct Meaning {
  ExitCode code;
  const char* words;
};
// README holds the same table. Errors of what a command is given are never 1.
constexpr Meaning kMeanings[] = {
    {ExitCode::ok, "as asked"},
    {ExitCode::failed,
     "a case failed or was refused; some machine code is not as expected; slower"},
    {ExitCode::usage, "bad arguments, or input that cannot be read"},
    {ExitCode::inconclusive, "the data cannot tell (gate)"},
    {ExitCode::unfit, "this machine cannot do it: no GPU, driver too old, throttled, no tool"},
    {ExitCode::io, "results could not be written: disk full, no permission"},
    {ExitCode::defect, "a defect of assay itself: please report it"},
    {ExitCode::interrupted, "interrupted; a run can be resumed"}};

std::string exit_codes() {
  std::string text = "Exit status:\n";
  for (const Meaning& meaning : kMeanings)
    text += fmt::format("  {:>3}  {}\n", static_cast<int>(meaning.code), meaning.words);
  return text;
}

int say(const Error& error) {
  tell(error.what());
  return static_cast<int>(error.code());
}

Error defect(const char* what) {
  return Error(ExitCode::defect,
               "a defect of assay, please report it with your input: " + excerpt(what));
}

// An empty value is a variable of a script that was not set, and no wish for the default: with
// `--resume ""` a run of its own began. Where a filter is empty, everything is meant.
void refuse_empty_values(CLI::App& app) {
  const auto every = [](CLI::App*) { return true; };
  for (CLI::App* const command : app.get_subcommands(every))
    for (CLI::Option* const option : command->get_options())
      if (!option->get_positional() && option->get_expected_max() > 0 &&
          option->get_name() != "--ptx")  // which says it in words of its own
        option->check(
            [](const std::string& value) {
              return value.empty() ? "its value is empty: give one, or leave the option out" : "";
            },
            "");
}

// CLI11 asks for a command where the first word is none, and does not say what it made of that
// word.
void require_command(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return;
  const std::string& first = words.front();
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == first) return;
    names.push_back(command->get_name());
  }
  if (!first.starts_with('-'))
    throw Error(ExitCode::usage,
                fmt::format("there is no command '{}'; the nearest are {} (assay --help has all)",
                            excerpt(first), fmt::join(nearest(first, names), ", ")));
  if (app.get_option_no_throw(first) == nullptr)
    throw Error(ExitCode::usage, fmt::format("there is no option {} before a command; `assay "
                                             "COMMAND --help` tells what a command takes",
                                             excerpt(first)));
}

// What could not be printed is an error, whether the command noticed or not.
int with_output_written(int exit_code) {
  const bool flushed = std::fflush(stdout) == 0;
  const int why = errno;
  if (flushed && !std::ferror(stdout)) return exit_code;
  return say(
      Error(ExitCode::io, fmt::format("cannot write to standard output{}{}", flushed ? "" : ": ",
                                      flushed ? "" : std::strerror(why))));
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is then an error, as a full disk is
  forget_current_folder(argv);
  CLI::App app{
      "assay: find out what an NVIDIA GPU, and the kernels that run on it, are really made of"};
  app.name("assay");
  const BuildEnvironment build = build_environment();
  app.set_version_flag("--version", fmt::format("assay {} {}", build.version, build.commit));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(exit_codes());
  int exit_code = 0;
  add_info(app, exit_code);
  add_isa(app, exit_code);
  add_list(app, exit_code);
  add_run(app, exit_code);
  add_model(app, exit_code);
  add_sass(app, exit_code);
  refuse_empty_values(app);
  add_worker(app, exit_code);
  try {
    run_external(app, argc, argv);
    describe_external(app);
    std::vector<std::string> words = words_of(argc, argv);
    require_command(app, words);
    std::ranges::reverse(words);  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    // CLI11 has codes of its own above 100 for each mistake; here they are all the user's.
    std::ostringstream words;
    const bool is_help = app.exit(error, words, words) == 0;
    (void)std::fputs(printable(words.str()).c_str(), is_help ? stdout : stderr);
    return with_output_written(static_cast<int>(is_help ? ExitCode::ok : ExitCode::usage));
  } catch (const Error& error) {
    return say(error);
  } catch (const std::filesystem::filesystem_error& error) {
    return say(
        Error(ExitCode::usage, fmt::format("cannot read {}: {}", excerpt(error.path1().string()),
                                           error.code().message())));
  } catch (const std::bad_alloc&) {
    return say(Error(ExitCode::usage, "this input needs more memory than there is"));
  } catch (const std::exception& error) {
    // fmt throws where a print fails.
    if (std::ferror(stdout)) return with_output_written(static_cast<int>(ExitCode::io));
    return say(defect(error.what()));
  } catch (...) {
    return say(defect("something was thrown that is no std::exception"));
  }
  return with_output_written(exit_code);
}

}  // namespace assay::commands

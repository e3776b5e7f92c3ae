// SPDX-License-Identifier: Apache-2.0
// `assay sass`: what a kernel consists of, and whether that is what its probe asked for.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/code/verification.hpp"
#include "harness/commands/commands.hpp"
#include "harness/commands/sass_show.hpp"
#include "harness/error.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/run/journal.hpp"
#include "harness/run/json_io.hpp"
#include "harness/run/selection.hpp"

namespace assay::commands {
namespace {

struct Options {
  std::string what;
  std::vector<std::string> targets;
  bool check = false;
  std::filesystem::path out;
  SassView view;
};

std::vector<std::pair<Selected, Target>> pairs(const Options& options) {
  std::vector<Target> targets;
  for (const std::string& text : options.targets) targets.push_back(parse_target(text));
  if (targets.empty()) targets = built_targets();
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

// Whether it is what write_run() leaves: nothing in it was measured.
bool is_of_check(const std::filesystem::path& run) {
  std::error_code ignored;
  if (!std::filesystem::exists(run, ignored)) return false;
  const Json json = read_run_file(run);
  return !json.contains("run") && std::ranges::all_of(json["measurements"], [](const Json& m) {
    const std::string status = text_in(m, "status");
    return status == "not_run" || status == "failed";
  });
}

// A folder within `folder` for what is not whole yet. What it holds in the end goes with it, and so
// does `folder`, if that was not there before and nothing was moved into it.
class Part {
 public:
  explicit Part(std::filesystem::path folder)
      : folder_(std::move(folder)), was_there_(std::filesystem::exists(folder_)) {}
  ~Part() {
    std::error_code ignored;
    std::filesystem::remove_all(path(), ignored);
    if (!was_there_) std::filesystem::remove(folder_, ignored);  // not if something is in it
  }
  Part(const Part&) = delete;  // owns the folder
  Part& operator=(const Part&) = delete;

  std::filesystem::path path() const { return folder_ / fmt::format(".part-{}", ::getpid()); }
  void move_out(const std::filesystem::path& file) const {
    std::error_code error;
    std::filesystem::rename(path() / file, folder_ / file, error);
    if (error)
      throw Error(ExitCode::io,
                  fmt::format("cannot write {}: {}", (folder_ / file).string(), error.message()));
  }

 private:
  std::filesystem::path folder_;
  bool was_there_;
};

// A run file of what was built and disassembled but not run, for the report. In the place of an
// earlier one, once it is whole.
class CheckedRun {
 public:
  // Throws Error(io) if nothing can be written there: before minutes of work, not behind them.
  explicit CheckedRun(const std::filesystem::path& folder)
      : folder_(folder), part_(folder), journal_(Journal::create(part_.path(), header())) {}

  void write(const std::vector<Verification>& verified,
             const std::vector<std::pair<Selected, Target>>& wanted) {
    for (std::size_t i = 0; i < verified.size(); ++i)
      journal_.append(to_json(measurement(verified[i], wanted[i])));
    journal_.write_run_file();
    for (const char* file : {"journal.jsonl", "run.json"}) part_.move_out(file);
    fmt::print("{}\n", (folder_ / "run.json").string());
  }

 private:
  static Json header() {
    Json made = {{"schema", kSchema}, {"environment", to_json(capture_environment(0))}};
    made["environment"]["gpu"] = nullptr;  // nothing ran, so no GPU is what was measured
    return made;
  }
  static Measurement measurement(const Verification& v, const std::pair<Selected, Target>& of);

  std::filesystem::path folder_;
  Part part_;
  Journal journal_;
};

Measurement CheckedRun::measurement(const Verification& v, const std::pair<Selected, Target>& of) {
  Measurement m{
      .name = v.name,
      .probe = of.first.probe->name,
      .kind = of.first.probe->kind,
      .pace = of.first.probe->pace,
      .params = of.first.which->params,
      .status = v.problems.empty() ? Status::not_run : Status::failed,
      .reason = v.problems.empty() ? "built and disassembled, not run" : v.problems.front()};
  m.params["target"] = std::string(name(v.target));
  if (!v.kernels.empty()) {
    m.sass = v.kernels.front();
    m.sass->text.clear();
    if (m.sass->emulated) m.flags.emplace_back("emulated");
  }
  return m;
}

ExitCode check_all(const Options& options) {
  if (!options.out.empty() && !is_of_check(options.out / "run.json"))
    Journal::require_none_in(options.out);
  const auto wanted = pairs(options);
  std::optional<CheckedRun> run;
  if (!options.out.empty()) run.emplace(options.out);
  const auto verified = verify_all(wanted);
  std::size_t wrong = 0;
  for (const Verification& v : verified) {
    if (!v.problems.empty()) ++wrong;
    for (const std::string& problem : v.problems)
      tell(fmt::format("{} for {}: {}", v.name, name(v.target), problem));
  }
  tell(fmt::format("{} cases checked, {} are not what they should be", verified.size(), wrong));
  if (run) run->write(verified, wanted);
  return wrong ? ExitCode::failed : ExitCode::ok;
}

// Names of cases begin with no dot or slash and end in no suffix of files.
bool looks_like_file(const std::string& what) {
  if (what.starts_with('/') || what.starts_with("./") || what.starts_with("../") ||
      what.starts_with('~'))
    return true;
  const std::string file = what.substr(0, what.find(':'));
  if (file.find(".so.") != std::string::npos) return true;
  constexpr std::string_view kSuffixes[] = {".cubin", ".fatbin", ".o",   ".a",  ".so",
                                            ".exe",   ".out",    ".ptx", ".cu", ".lib"};
  return std::ranges::any_of(kSuffixes, [&](auto suffix) { return file.ends_with(suffix); });
}

ExitCode sass(const Options& options) {
  if (options.check) return check_all(options);
  if (options.what.empty())
    throw Error(ExitCode::usage,
                "say what to look at: a file, FILE:KERNEL or a case's name (see "
                "`assay sass --help`)");
  if (std::filesystem::exists(options.what))
    return show_file(options.what, "", options.targets, options.view);
  // A kernel's name may hold colons too: "libmine.so:mine::gemm<128>".
  for (auto colon = options.what.find(':'); colon != std::string::npos;
       colon = options.what.find(':', colon + 1))
    if (std::filesystem::exists(options.what.substr(0, colon)))
      return show_file(options.what.substr(0, colon), options.what.substr(colon + 1),
                       options.targets, options.view);
  if (looks_like_file(options.what))
    throw Error(ExitCode::usage, fmt::format("no such file: {}", excerpt(options.what)));
  return show_cases(pairs(options), options.view);
}

}  // namespace

void add_sass(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "sass", "The machine code of kernels: what bounds their loops, and what probes expect");
  auto options = std::make_shared<Options>();
  SassView& view = options->view;
  command->add_option("WHAT", options->what,
                      "A cubin, object, archive, executable or library (FILE or FILE:KERNEL), or "
                      "the name of cases as `assay list` shows them (a regular expression)");
  command->add_option("--target", options->targets,
                      "Only these, such as sm_90a (default: all this is built for)");
  const std::vector<CLI::Option*> of_the_view{
      command->add_option("--table", view.table,
                          "run.json to take the cost of instructions from (default: the result "
                          "that knows most of the architecture, of those that come with assay)"),
      command
          ->add_option("--warps", view.warps,
                       "Warps of an SM that run the loop (default: those of one CTA that reach "
                       "it, by the kernel's launch bounds)")
          ->check(CLI::Range(1, 64)),
      command->add_option(
          "--measured", view.measured,
          "run.json with times to compare the prediction with (default: as --table)"),
      command->add_flag("--all", view.all, "Every kernel and every loop, however many"),
      command->add_flag("--brief", view.brief, "Without the listing"),
      command->add_flag("--json", view.json, "As JSON, for programs (assay.sass/1)"),
      command->add_option("--svg", view.svg,
                          "Also a picture of the first loop: its instructions along time, by "
                          "pipe")};
  auto* check =
      command->add_flag("--check", options->check,
                        "Check every case against what its probe expects, for every target");
  for (CLI::Option* option : of_the_view) check->excludes(option);
  command
      ->add_option("--out", options->out,
                   "With --check: folder for a run.json of what was verified, for the report; not "
                   "one that holds a run")
      ->needs(check);
  command->footer(
      "Needs no GPU.\n\n"
      "Examples:\n"
      "  assay sass '^memory/hbm/copy' --target sm_90a   the loop behind a figure\n"
      "  assay sass 'build/libassay_kernels.so:gemm_sm90<0, 0, 0, 128, 256' --svg gemm.svg\n"
      "  assay sass libmine.a                            any project's: its kernels, or a list\n"
      "  assay sass --check                              all cases, all targets\n\n"
      "What it shows of a kernel:\n"
      "  loops       with the warps of a CTA that reach them: the roles of a specialized kernel\n"
      "  handshakes  which warps wait for a barrier and which signal it\n"
      "and of its hottest loops:\n"
      "  pipes       cycles that each is busy in an iteration, for one warp and for all of them.\n"
      "              The busiest bounds the loop. `issue`: one instruction a cycle and scheduler.\n"
      "  costs       where those cycles are from: measured; like the same instruction with other\n"
      "              modifiers; like others of its pipe; documented; a rate of its pipe that\n"
      "              was not checked; or nothing but an issue slot\n"
      "  stages      MMAs, copies and barriers in order: issued, waited for, and what lies "
      "between\n"
      "  listing     issue  when one warp alone would issue it\n"
      "              B-1---4  waits for scoreboards 1 and 4    R2  frees 2 when operands are read\n"
      "              W0  frees 0 when the result is there      Y   another warp may go first\n"
      "              S05  the next may issue 5 cycles later\n"
      "  predicted   the longer of the busiest pipe and one warp alone: cycles in which every "
      "warp\n"
      "              does an iteration of the likely path: the way with fewer calls, else past\n"
      "              branches forward. Data of other warps and of memory beyond L1 is taken as\n"
      "              there, shared memory as free of bank conflicts.\n"
      "  at least    a bound: what every iteration executes, whichever way it takes, at costs\n"
      "              measured for the very opcode\n\n"
      "Exit status: 0 as expected, 1 some machine code is not, 2 bad arguments or no such kernel.");
  command->callback([options, &exit_code] { exit_code = static_cast<int>(sass(*options)); });
}

}  // namespace assay::commands

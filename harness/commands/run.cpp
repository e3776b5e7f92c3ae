// SPDX-License-Identifier: Apache-2.0
// `assay run`: measure.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "harness/commands/commands.hpp"
#include "harness/error.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/run/json_io.hpp"
#include "harness/run/runner.hpp"
#include "harness/run/worker.hpp"

namespace assay::commands {
namespace {

CLI::Validator number_within(double low, double high) {
  const auto check = [low, high](const std::string& text) { return not_within(text, low, high); };
  return {check, fmt::format("FLOAT in [{} - {}]", low, high)};
}

}  // namespace

bool leaves_out(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-';
}

std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || (words[0] != "run" && words[0] != "list")) return words;
  for (std::string& word : words)
    if (word.starts_with("-h") && word != "-h" && word != "-help")
      word = "-(?:" + word.substr(1) + ")";
  return words;
}

std::string not_within(const std::string& text, double low, double high) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return "";
  return fmt::format("'{}' is not a number from {} to {}", excerpt(text), low, high);
}

void add_run(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("run", "Measure: probes, kernels, collectives");
  auto request = std::make_shared<RunRequest>();
  auto profile = std::make_shared<std::string>();
  RunOptions& options = request->options;
  options.sampling.time_cap_s = 0;  // by suite, below
  // Google Benchmark's spellings of what is also ours mean the same.
  auto* filter = command->add_option("FILTER,--benchmark_filter", request->filter,
                                     "Regular expression found anywhere in the full name; '-' "
                                     "before it leaves those out. An exact name is taken from any "
                                     "suite");
  auto* suite = command->add_option(
      "--suite", request->suite,
      "quick: the tour, about a minute (default); full: everything; host: this CPU");
  auto* out = command->add_option("--out", request->out,
                                  "Folder for run.json and journal.jsonl "
                                  "(default: out/<time>-<suite>)");
  auto* device = command->add_option("--device", request->device, "Ordinal of the GPU (default 0)")
                     ->check(CLI::Range(0, kMostDevices));
  auto* repetitions =
      command
          ->add_option("--repetitions,--benchmark_repetitions", request->repetitions,
                       "Measure all of it this often, each time in a fresh process; `assay gate` "
                       "then knows how much processes differ (6 or more serve it best)")
          ->check(CLI::Range(1, 1000));
  auto* resume = command->add_option("--resume", request->resume,
                                     "Go on with the run in this folder, as it was started");
  command
      ->add_flag("--or-new", request->or_new,
                 "With --resume: if that run is of another build, GPU or host, start a new one "
                 "with its cases and options (default: refuse)")
      ->needs(resume);
  auto* interval =
      command
          ->add_option("--interval", options.sampling.half_width,
                       "Stop when the 95% interval of the median is within +- this share (0.005; a "
                       "fifth of it for figures in cycles)")
          ->check(number_within(kLeastHalfWidth, kMostHalfWidth));
  auto* time_cap = command
                       ->add_option("--time-cap", options.sampling.time_cap_s,
                                    "Seconds of sampling per case at most (quick: 0.25, else 2)")
                       ->check(number_within(kLeastTimeCapS, kMostTimeCapS));
  command
      ->add_option("--deadline", request->deadline_s,
                   "Seconds until a case counts as hung and its process is killed (120)")
      ->check(number_within(1e-3, 1e6));
  command
      ->add_option("--wait", request->wait_s,
                   "Seconds to wait, at most, until no other process is on the GPU (0: measure "
                   "beside it and flag every figure)")
      ->check(number_within(0, 1e6));
  auto* seed =
      command->add_option("--seed", options.seed, "For the order of cases and for their data (1)")
          ->check([](const std::string& text) { return not_within(text, 0, kLargestSeed); });
  auto* counters =
      command->add_flag("--counters", options.counters,
                        "After timing, run once more under CUPTI and record hardware counters");
  auto* alone = command->add_flag(
      "--no-baselines", options.alone,
      "Measure ours alone: no library is searched and timed beside it (`assay ab` asks so)");
  auto* no_sweeps = command->add_flag(
      "!--no-sweeps", options.sweeps,
      "Of an instruction measure the figures, not its rate over warps and chains too: a quarter of "
      "the time (`assay ab` asks so)");
  // Hidden: what `assay gate --self-test` plants.
  auto* extra = command
                    ->add_option("--extra-work", options.extra_percent,
                                 "For every 100 rounds of work that are counted, do so many more")
                    ->check(CLI::Range(-99, 100))
                    ->group("");
  command
      ->add_option("--profile", *profile,
                   "Launch this one case once, in this process, for ncu or nsys; what is measured "
                   "lies between cudaProfilerStart and cudaProfilerStop")
      ->excludes(resume);
  // What a run was started with holds to its end.
  for (auto* fixed : {filter, suite, out, device, repetitions, interval, time_cap, seed, counters,
                      alone, no_sweeps, extra})
    resume->excludes(fixed);
  command->allow_extras();
  command->footer(
      "Flags that begin with --benchmark_ go to Google Benchmark (--benchmark_out=FILE writes its "
      "JSON, which compare.py reads).\n\n"
      "Examples:\n"
      "  assay run                                  the quick suite\n"
      "  assay run '^memory/hbm' --suite full       device memory, every case\n"
      "  assay run --resume out/2026-01-01T120000-quick\n"
      "  ncu --clock-control none --profile-from-start off assay run --profile memory/hbm/copy\n\n"
      "Exit status: 0 all measured, 1 a case failed or was refused, 2 bad arguments,\n"
      "4 this machine cannot run it, 5 results could not be written, 130 interrupted (resumable).");
  command->callback([command, request, profile, &exit_code] {
    if (!profile->empty()) {
      exit_code = static_cast<int>(run_for_profiler(*profile, request->device));
      return;
    }
    double& cap = request->options.sampling.time_cap_s;
    if (cap == 0) cap = request->suite == "quick" ? 0.25 : 2.0;
    for (const std::string& word : command->remaining()) {
      if (leaves_out(word) && request->filter.empty())
        request->filter = word;
      else if (word != "--")
        request->benchmark_flags.push_back(word);
    }
    if (!request->resume.empty() && !request->filter.empty())
      throw Error(ExitCode::usage,
                  "--resume goes on with the cases it was started with: leave out "
                  "the filter '" +
                      excerpt(request->filter) + "'");
    exit_code = static_cast<int>(run(*request));
  });
}

void add_worker(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("worker", "What `assay run` starts to touch the GPU")->group("");
  auto device = std::make_shared<int>(0);
  command->add_option("--device", *device);
  command->callback([device, &exit_code] { exit_code = worker_main(*device); });
}

}  // namespace assay::commands

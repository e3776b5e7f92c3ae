// SPDX-License-Identifier: Apache-2.0
// `assay list`: what there is to measure.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/commands/commands.hpp"
#include "harness/commands/probes_page.hpp"
#include "harness/device.hpp"
#include "harness/error.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/run/json_io.hpp"
#include "harness/run/selection.hpp"

namespace assay::commands {
namespace {

struct Options {
  std::string filter, suite = "full";
  bool json = false, markdown = false;
};

std::vector<std::string_view> target_names(const Selected& s) {
  std::vector<std::string_view> names;
  for (const Target target : s.probe->targets_of(*s.which)) names.push_back(name(target));
  return names;
}

// What would run here: the GPU's own target, or host alone.
Target here() {
  try {
    return device(0).target;
  } catch (const Error&) {
    return Target::host;
  }
}

void print_json(const std::vector<Selected>& cases, Target target) {
  Json list = Json::array();
  for (const Selected& s : cases) {
    Json metrics = Json::object();
    for (const MetricNote& note : s.probe->metrics) metrics[note.name] = note.meaning;
    list.push_back({{"name", s.name},
                    {"probe", s.probe->name},
                    {"question", s.probe->question},
                    {"kind", name(s.probe->kind)},
                    {"source", source_of(*s.probe)},
                    {"metrics", std::move(metrics)},
                    {"params", to_json(s.which->params)},
                    {"targets", target_names(s)},
                    {"suite", s.which->suite == Suite::quick ? "quick" : "full"},
                    {"runs_here", s.probe->exists_on(*s.which, target) ||
                                      s.probe->exists_on(*s.which, Target::host)}});
  }
  fmt::print("{}\n", list.dump(1));
}

void print_text(const std::vector<Selected>& cases, Target target) {
  const Probe* last = nullptr;
  for (const Selected& s : cases) {
    if (s.probe != last) fmt::print("\n{}: {}\n", s.probe->name, s.probe->question);
    last = s.probe;
    const bool runs =
        s.probe->exists_on(*s.which, target) || s.probe->exists_on(*s.which, Target::host);
    fmt::print("  {} {:<52} {:<5} {}\n", runs ? '*' : ' ', s.name,
               s.which->suite == Suite::quick ? "quick" : "full", fmt::join(target_names(s), " "));
  }
  fmt::print("\n{} cases; * would run here ({})\n", cases.size(), name(target));
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("list", "Every probe and kernel case, and where it exists");
  auto options = std::make_shared<Options>();
  command->add_option("FILTER", options->filter,
                      "Regular expression found anywhere in the full name; all by default. '-' "
                      "before it leaves those out");
  command->add_option("--suite", options->suite, "quick, full (default) or host");
  auto* json = command->add_flag("--json", options->json, "For programs");
  command
      ->add_flag("--markdown", options->markdown,
                 "The page docs/probes.md; run this in the root of the sources")
      ->excludes(json);
  command->footer(
      "Examples:\n"
      "  assay list                       everything\n"
      "  assay list '^memory/.*latency'   the latencies of the memory hierarchy\n"
      "  assay list '-^kernels/'          all but the kernels\n"
      "  assay list --suite quick --json  what the minute-long tour measures, as JSON");
  command->allow_extras();
  command->callback([command, options, &exit_code] {
    for (const std::string& word : command->remaining()) {
      if (word == "--") continue;
      if (!leaves_out(word) || !options->filter.empty())
        throw Error(ExitCode::usage, "'" + excerpt(word) + "' is no option of `assay list`: see " +
                                         "`assay list --help`");
      options->filter = word;
    }
    const std::vector<Selected> cases = select(options->filter, options->suite);
    if (options->json)
      print_json(cases, here());
    else if (options->markdown)
      fmt::print("{}", probes_page(cases));
    else
      print_text(cases, here());
    exit_code = 0;
  });
}

}  // namespace assay::commands

// SPDX-License-Identifier: Apache-2.0
// `assay list`: what there is to measure.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <tuple>

#include "harness/commands/commands.hpp"
#include "harness/device.hpp"
#include "harness/error.hpp"
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
    list.push_back({{"name", s.name},
                    {"probe", s.probe->name},
                    {"question", s.probe->question},
                    {"kind", name(s.probe->kind)},
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

// Cases of a probe whose names begin alike, and which are in the same suite and exist for the same
// targets.
struct Group {
  std::string folder, suite, targets;
  std::vector<std::string> names;  // what follows the folder
};

std::vector<Group> groups_of(const std::vector<Selected>& cases) {
  std::vector<Group> groups;
  for (const Selected& s : cases) {
    const std::size_t first = s.probe->name.size() + 1;  // of the case's own name
    const std::size_t slash = s.name.find('/', std::min(first, s.name.size()));
    const std::size_t end = slash == std::string::npos ? 0 : slash + 1;
    Group group{.folder = s.name.substr(0, end),
                .suite = s.which->suite == Suite::quick ? "quick" : "full",
                .targets = fmt::format("{}", fmt::join(target_names(s), " ")),
                .names = {}};
    const auto same = std::ranges::find_if(groups, [&](const Group& other) {
      return !group.folder.empty() && std::tie(group.folder, group.suite, group.targets) ==
                                          std::tie(other.folder, other.suite, other.targets);
    });
    Group& into = same == groups.end() ? groups.emplace_back(group) : *same;
    into.names.push_back(s.name.substr(end));
  }
  return groups;
}

// The generated page of documentation: one section per probe, a line for a case, or for all of a
// folder where there are many.
void print_markdown(const std::vector<Selected>& cases) {
  constexpr std::size_t kMany = 2;
  fmt::print("# Probes\n\nMade by `assay list --markdown` from the registrations.\n");
  for (auto begin = cases.begin(); begin != cases.end();) {
    const Probe* probe = begin->probe;
    const auto end =
        std::find_if(begin, cases.end(), [&](const Selected& s) { return s.probe != probe; });
    fmt::print("\n## `{}`\n\n{}\n\n", probe->name, probe->question);
    fmt::print("| case | suite | targets |\n|---|---|---|\n");
    for (const Group& group : groups_of({begin, end})) {
      if (group.names.size() >= kMany)
        fmt::print("| `{}`: `{}` | {} | {} |\n", group.folder, fmt::join(group.names, "` `"),
                   group.suite, group.targets);
      else
        for (const std::string& name : group.names)
          fmt::print("| `{}{}` | {} | {} |\n", group.folder, name, group.suite, group.targets);
    }
    begin = end;
  }
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("list", "Every probe and kernel case, and where it exists");
  auto options = std::make_shared<Options>();
  command->add_option("FILTER", options->filter,
                      "Regular expression found anywhere in the full name; all by default");
  command->add_option("--suite", options->suite, "quick, full (default) or host");
  auto* json = command->add_flag("--json", options->json, "For programs");
  command->add_flag("--markdown", options->markdown, "The documentation page of all probes")
      ->excludes(json);
  command->footer(
      "Examples:\n"
      "  assay list                       everything\n"
      "  assay list '^memory/.*latency'   the latencies of the memory hierarchy\n"
      "  assay list --suite quick --json  what the minute-long tour measures, as JSON");
  command->callback([options, &exit_code] {
    const std::vector<Selected> cases = select(options->filter, options->suite);
    if (options->json)
      print_json(cases, here());
    else if (options->markdown)
      print_markdown(cases);
    else
      print_text(cases, here());
    exit_code = 0;
  });
}

}  // namespace assay::commands

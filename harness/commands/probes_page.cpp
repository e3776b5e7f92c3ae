// SPDX-License-Identifier: Apache-2.0
#include "harness/commands/probes_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <source_location>

#include "harness/commands/case_lines.hpp"
#include "harness/error.hpp"
#include "harness/measure/figures/metric_notes.hpp"

namespace assay::commands {
namespace {

// As this file's own path tells; empty, or with a slash at its end.
std::string source_root() {
  constexpr std::string_view kSelf = "harness/commands/probes_page.cpp";
  const std::string self = std::source_location::current().file_name();
  return self.ends_with(kSelf) ? self.substr(0, self.size() - kSelf.size()) : std::string();
}

// The comment between the license and the first line of code, without its slashes.
std::vector<std::string> header_comment(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line))
    throw Error(ExitCode::usage,
                fmt::format("cannot read {}: make this page in the root of the sources", path));
  std::vector<std::string> lines;
  while (std::getline(file, line) && line.starts_with("//"))
    lines.push_back(line.size() > 3 ? line.substr(3) : std::string());
  return lines;
}

// Text in which Markdown would see emphasis or tags, but for what is between backticks.
std::string escaped(std::string_view text) {
  std::string result;
  bool code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '`') code = !code;
    const bool underscores =
        c == '_' && (text.substr(i + 1, 1) == "_" || (i > 0 && text[i - 1] == '_'));
    if (!code && (c == '*' || c == '<' || c == '|' || underscores)) result += '\\';
    result += c;
  }
  return result;
}

// Indented lines, "  name   what it is", become a list; deeper ones go on with the item before.
std::string as_markdown(const std::vector<std::string>& lines) {
  std::string page;
  bool in_list = false;
  for (const std::string& line : lines) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = std::string_view(line).substr(indent);
    const std::size_t gap = text.find("  ");
    if (indent == 2) {
      if (!in_list) page += '\n';
      page += gap == std::string::npos
                  ? fmt::format("- {}\n", escaped(text))
                  : fmt::format("- `{}`: {}\n", text.substr(0, gap),
                                escaped(text.substr(text.find_first_not_of(' ', gap))));
    } else if (indent > 2) {
      page += fmt::format("  {}\n", escaped(text));
    } else {
      if (in_list && !text.empty()) page += '\n';
      page += escaped(text) + '\n';
    }
    in_list = indent >= 2;
  }
  return page;
}

// As GitHub makes it of a heading.
std::string anchor(const std::string& heading) {
  std::string result;
  for (const char c : heading)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-')
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (c == ' ')
      result += '-';
  return result;
}

std::string family_of(const Probe& probe) { return probe.name.substr(0, probe.name.find('/')); }

std::string metrics_table(const std::vector<MetricNote>& notes) {
  std::string table = "| metric | meaning |\n|---|---|\n";
  for (const MetricNote& note : notes)
    table += fmt::format("| `{}` | {} |\n", note.name, escaped(note.meaning));
  return table;
}

std::string targets_in_words(const std::vector<Target>& targets) {
  if (targets == all_gpu_targets()) return "every GPU target";
  std::vector<std::string_view> names;
  for (const Target target : targets) names.push_back(name(target));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string suite_in_words(const std::vector<const Case*>& cases) {
  const auto quick = static_cast<std::size_t>(
      std::ranges::count(cases, Suite::quick, [](const Case* c) { return c->suite; }));
  if (cases.size() == 1) return quick ? "quick" : "full";
  const std::string all = fmt::format("{} cases", cases.size());
  if (quick == 0) return all + ", full";
  if (quick == cases.size()) return all + ", quick";
  return fmt::format("{}, {} of them quick", all, quick);
}

std::string cases_list(const Probe& probe, const std::vector<const Case*>& cases) {
  constexpr std::size_t kMostLines = 10;
  const std::vector<CaseLine> lines = case_lines(probe, cases);
  std::string list;
  std::size_t left = cases.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == kMostLines && lines.size() > kMostLines + 1) {
      list += fmt::format("- and {} more: `assay list '^{}/'`\n", left, probe.name);
      break;
    }
    const CaseLine& line = lines[i];
    left -= line.cases.size();
    list += fmt::format("- `{}`", line.pattern);
    if (!line.values.empty()) list += fmt::format("; {}", fmt::join(line.values, "; "));
    list += fmt::format(" ({}; {})\n", suite_in_words(line.cases),
                        targets_in_words(probe.targets_of(*line.cases.front())));
  }
  return list;
}

struct Section {
  const Probe* probe;
  std::vector<const Case*> cases;
};

std::vector<Section> sections_of(const std::vector<Selected>& cases) {
  std::vector<Section> sections;
  for (const Selected& s : cases) {
    if (sections.empty() || sections.back().probe != s.probe) sections.push_back({s.probe, {}});
    sections.back().cases.push_back(s.which);
  }
  return sections;
}

std::string contents(const std::vector<Section>& sections) {
  std::string list, family;
  for (const Section& section : sections) {
    const Probe& probe = *section.probe;
    const bool first = family != family_of(probe);
    if (first)
      list += fmt::format("{}- [{}](#{}): ", family.empty() ? "" : "\n", family_of(probe),
                          anchor("family " + family_of(probe)));
    family = family_of(probe);
    const std::string rest =
        probe.name.size() > family.size() ? probe.name.substr(family.size() + 1) : probe.name;
    list += fmt::format("{}[{}](#{})", first ? "" : ", ", rest, anchor(probe.name));
  }
  return list + "\n";
}

std::string section_text(const Section& section, std::map<std::string, const Probe*>& told) {
  const Probe& probe = *section.probe;
  const std::string source = source_of(probe);
  std::string text = fmt::format("\n### `{}`\n\n**{}**\n\n", probe.name, probe.question);
  const auto [first, is_new] = told.emplace(source, &probe);
  if (is_new)
    text += as_markdown(header_comment(source));
  else
    text += fmt::format("See [`{}`](#{}), which shares its file.\n", first->second->name,
                        anchor(first->second->name));
  text += fmt::format("\nSource: [{}](../{})\n\n", source, source);
  if (!probe.metrics.empty()) text += metrics_table(probe.metrics) + "\n";
  return text + cases_list(probe, section.cases);
}

}  // namespace

std::string source_of(const Probe& probe) {
  const std::string root = source_root();
  return probe.source.starts_with(root) ? probe.source.substr(root.size()) : probe.source;
}

std::string probes_page(const std::vector<Selected>& cases) {
  const std::vector<Section> sections = sections_of(cases);
  std::string page = fmt::format(
      "# Probes\n\nMade by `assay list --markdown` from the registrations and the comments at the "
      "top of their files.\n\n{}\n"
      "In the names of cases, `<...>` stands for one of the values listed and `[...]` for what may "
      "be missing. The quick suite is the minute-long tour; full cases run with `--suite full`.\n\n"
      "## Metrics that many probes have\n\nThey mean this wherever a probe does not say otherwise. "
      "In the tables below, a `*` stands for any text, the same in the name and in the meaning.\n\n"
      "{}",
      contents(sections), metrics_table(standard_metrics()));
  std::string family;
  std::map<std::string, const Probe*> told;  // by source file
  for (const Section& section : sections) {
    if (family != family_of(*section.probe)) {
      family = family_of(*section.probe);
      page += fmt::format("\n## Family `{}`\n", family);
    }
    page += section_text(section, told);
  }
  return page;
}

}  // namespace assay::commands

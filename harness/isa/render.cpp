// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/render.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace assay::isa {
namespace {

constexpr std::string_view kLegend =
    "N native: one instruction. xK: split into K of one kind. E emulated: becomes something else.\n"
    ". rejected by the assembler. ? accepted, but what it becomes is not known.\n"
    "! accepted with advice or a warning.\n";

constexpr std::string_view kPrefix = "sm_";

// Remarks of a form, each with the targets it holds for.
std::vector<std::pair<std::string, std::string>> remarks_of(const Matrix& matrix,
                                                            std::size_t form) {
  std::vector<std::pair<std::string, std::string>> found;  // "N", "1 FFMA" -> targets
  for (std::size_t t = 0; t < matrix.targets.size(); ++t) {
    const Verdict& verdict = matrix.verdicts[form][t];
    const std::string text = fmt::format("{:<3} {}", cell(verdict), remark(verdict));
    const auto same = std::ranges::find(found, text, &std::pair<std::string, std::string>::first);
    if (same == found.end())
      found.emplace_back(text, column(matrix.targets[t]));
    else
      same->second += " " + column(matrix.targets[t]);
  }
  return found;
}

nlohmann::ordered_json json_of(const Verdict& verdict) {
  nlohmann::ordered_json json = {
      {"status", name(verdict.support)}, {"count", verdict.count}, {"opcodes", verdict.opcodes}};
  if (!verdict.calls.empty()) json["calls"] = verdict.calls;
  if (!verdict.words.empty())
    json[verdict.support == Support::rejected ? "words" : "advice"] = verdict.words;
  return json;
}

}  // namespace

std::string column(const std::string& target) {
  return target.substr(target.starts_with(kPrefix) ? kPrefix.size() : 0);
}

std::string short_name(const Form& form) {
  return form.name.starts_with(form.group + "/") ? form.name.substr(form.group.size() + 1)
                                                 : form.name;
}

std::string remark(const Verdict& verdict) {
  if (verdict.support == Support::rejected) return verdict.words;
  if (verdict.support == Support::unknown) return verdict.words;
  const std::string becomes = describe(verdict);
  return verdict.words.empty() ? becomes : becomes + "; " + verdict.words;
}

std::string cell(const Verdict& verdict) {
  std::string text = verdict.support == Support::native     ? "N"
                     : verdict.support == Support::emulated ? "E"
                     : verdict.support == Support::split    ? fmt::format("x{}", verdict.count)
                     : verdict.support == Support::unknown  ? "?"
                                                            : ".";
  const bool works = verdict.support != Support::rejected && verdict.support != Support::unknown;
  if (works && !verdict.words.empty()) text += "!";
  return text;
}

std::string summary(const Matrix& matrix) {
  std::map<Support, std::size_t> counts;
  for (const auto& row : matrix.verdicts)
    for (const Verdict& verdict : row) ++counts[verdict.support];
  return fmt::format(
      "{} forms x {} targets by {}: {} native, {} split, {} emulated, {} rejected, "
      "{} unknown",
      matrix.forms.size(), matrix.targets.size(),
      matrix.assembler.substr(0, matrix.assembler.rfind(' ')), counts[Support::native],
      counts[Support::split], counts[Support::emulated], counts[Support::rejected],
      counts[Support::unknown]);
}

std::string to_text(const Matrix& matrix, bool details) {
  std::size_t width = 0;
  for (const Form& form : matrix.forms) width = std::max(width, short_name(form).size());
  std::string text;
  const std::string* group = nullptr;
  for (std::size_t f = 0; f < matrix.forms.size(); ++f) {
    const Form& form = matrix.forms[f];
    if (!group || *group != form.group) {
      text += fmt::format("{}{:<{}}", group ? "\n" : "", form.group, width + 2);
      for (const std::string& target : matrix.targets)
        text += fmt::format(" {:>4}", column(target));
      text += "\n";
      group = &form.group;
    }
    text += fmt::format("  {:<{}}", short_name(form), width);
    for (const Verdict& verdict : matrix.verdicts[f]) text += fmt::format(" {:>4}", cell(verdict));
    text += "\n";
    if (!details) continue;
    text += fmt::format("    {}\n", is_module(form.ptx) ? "a module" : form.ptx);
    for (const auto& [said, targets] : remarks_of(matrix, f))
      text += fmt::format("      {}  [{}]\n", said, targets);
  }
  return text + fmt::format("\n{}{}\n", kLegend, summary(matrix));
}

std::string to_markdown(const Matrix& matrix) {
  std::string text =
      "# Instructions by target\n\nMade by `assay isa --markdown` from the "
      "assembler's answers.\n\n";
  text += fmt::format("{}\n{}.\n", kLegend, summary(matrix));
  const std::string* group = nullptr;
  for (std::size_t f = 0; f < matrix.forms.size(); ++f) {
    const Form& form = matrix.forms[f];
    if (!group || *group != form.group) {
      text += fmt::format("\n## {}\n\n| instruction |", form.group);
      for (const std::string& target : matrix.targets) text += fmt::format(" {} |", column(target));
      text += "\n|---|";
      for (std::size_t t = 0; t < matrix.targets.size(); ++t) text += ":-:|";
      text += "\n";
      group = &form.group;
    }
    std::string shown = short_name(form);
    text += fmt::format("| `{}` |", shown);
    for (const Verdict& verdict : matrix.verdicts[f]) text += fmt::format(" {} |", cell(verdict));
    text += "\n";
  }
  return text;
}

std::string to_json(const Matrix& matrix) {
  nlohmann::ordered_json forms = nlohmann::ordered_json::array();
  for (std::size_t f = 0; f < matrix.forms.size(); ++f) {
    const Form& form = matrix.forms[f];
    nlohmann::ordered_json entry = {
        {"name", form.name}, {"group", form.group}, {"ptx", form.ptx}, {"timed", nullptr}};
    if (!form.timed.empty()) entry["timed"] = form.timed;
    for (std::size_t t = 0; t < matrix.targets.size(); ++t)
      entry["targets"][matrix.targets[t]] = json_of(matrix.verdicts[f][t]);
    forms.push_back(std::move(entry));
  }
  const nlohmann::ordered_json json = {{"schema", "assay.isa/1"},
                                       {"assembler", matrix.assembler},
                                       {"targets", matrix.targets},
                                       {"forms", std::move(forms)}};
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace assay::isa

// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/notation.hpp"

#include <re2/re2.h>

namespace assay::notation {
namespace {

constexpr std::string_view kBlank = " \t\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

struct Alternatives {
  std::size_t begin, end;  // of the text with its parentheses
  std::vector<std::string> texts;
};

// The first parentheses that hold a '|' of their own.
std::optional<Alternatives> first_alternatives(const std::string& line) {
  for (std::size_t open = line.find('('); open != line.npos; open = line.find('(', open + 1)) {
    Alternatives found{open, open, {""}};
    int depth = 0;
    for (std::size_t i = open + 1; i < line.size(); ++i) {
      if (line[i] == ')' && depth == 0) {
        found.end = i + 1;
        break;
      }
      depth += (line[i] == '(') - (line[i] == ')');
      if (line[i] == '|' && depth == 0)
        found.texts.emplace_back();
      else
        found.texts.back() += line[i];
    }
    if (found.end > open && found.texts.size() > 1) return found;
  }
  return std::nullopt;
}

std::string with_registers_listed(const std::string& line) {
  static const RE2 run(R"(((%[a-z]+)\[([0-9]{1,4}):([0-9]{1,4})\]))");
  std::string text;
  re2::StringPiece rest(line), all;
  std::string name;
  int first = 0, end = 0;
  for (std::size_t done = 0; RE2::FindAndConsume(&rest, run, &all, &name, &first, &end);) {
    const auto begin = static_cast<std::size_t>(all.data() - line.data());
    text.append(line, done, begin - done);
    for (int i = first; i < end; ++i) text += (i > first ? ", " : "") + name + std::to_string(i);
    done = begin + all.size();
  }
  return text.append(rest.data(), rest.size());
}

void expand_into(const std::string& line, std::vector<std::string>& texts) {
  const auto found = first_alternatives(line);
  if (!found) {
    texts.push_back(with_registers_listed(line));
    return;
  }
  for (const std::string& text : found->texts)
    expand_into(line.substr(0, found->begin) + text + line.substr(found->end), texts);
}

}  // namespace

std::vector<std::string> expand(const std::string& line) {
  std::vector<std::string> texts;
  expand_into(line, texts);
  return texts;
}

std::string mnemonic(std::string_view ptx) {
  ptx = trimmed(ptx);
  const std::string_view whole = ptx;
  while (ptx.starts_with('.') && ptx.find(';') != ptx.npos)  // declarations
    ptx = trimmed(ptx.substr(ptx.find(';') + 1));
  if (ptx.empty()) ptx = whole;  // a directive alone
  if (ptx.starts_with('@'))
    ptx = trimmed(ptx.substr(std::min(ptx.find_first_of(kBlank), ptx.size())));
  return std::string(ptx.substr(0, ptx.find_first_of(" \t\n;")));
}

std::vector<InstructionRow> rows_of(std::string_view lines) {
  std::vector<InstructionRow> rows;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = trimmed(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.empty() || line.starts_with('#') || line.starts_with("//")) continue;
    for (const std::string& text : expand(std::string(line))) {
      const std::size_t note = text.find('#');
      InstructionRow row;
      row.ptx = trimmed(std::string_view(text).substr(0, note));
      row.name = mnemonic(row.ptx);
      if (note != text.npos) row.name += " " + std::string(trimmed(text.substr(note + 1)));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace assay::notation

// SPDX-License-Identifier: Apache-2.0
#include "harness/instruction/notation.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/error.hpp"

namespace assay::notation {
namespace {

constexpr std::string_view kBlank = " \t\n";
constexpr std::size_t kMostTexts = 20'000;
constexpr std::size_t kMostCharacters = 16 << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

struct Alternatives {
  std::size_t begin, end;  // of the text with its parentheses
  std::vector<std::string> texts;
};

// Of the parentheses that hold a '|' of their own those that open first.
std::optional<Alternatives> first_alternatives(const std::string& line) {
  struct Open {
    std::size_t begin;
    std::vector<std::size_t> bars;
  };
  std::vector<Open> open;
  std::optional<Open> first;
  std::size_t end = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '(') open.push_back({i, {}});
    if (open.empty()) continue;
    if (line[i] == '|') open.back().bars.push_back(i);
    if (line[i] != ')') continue;
    if (!open.back().bars.empty() && (!first || open.back().begin < first->begin)) {
      first = std::move(open.back());
      end = i;
    }
    open.pop_back();
  }
  if (!first) return std::nullopt;
  Alternatives found{first->begin, end + 1, {}};
  std::size_t begin = first->begin + 1;
  first->bars.push_back(end);
  for (const std::size_t bar : first->bars) {
    found.texts.push_back(line.substr(begin, bar - begin));
    begin = bar + 1;
  }
  return found;
}

// What is left of the limits. Alternatives multiply: a hundred characters may stand for more texts
// than there is memory for.
class Budget {
 public:
  void spend(std::size_t texts, std::size_t characters) {
    if (texts > texts_ || characters > characters_)
      throw Error(ExitCode::usage,
                  "alternatives and runs of registers that stand for more than " +
                      std::to_string(kMostTexts) + " texts or " +
                      std::to_string(kMostCharacters >> 20) +
                      " MiB; write fewer of them, or several lines one after another");
    texts_ -= texts;
    characters_ -= characters;
  }
  std::size_t characters() const { return characters_; }

 private:
  std::size_t texts_ = kMostTexts, characters_ = kMostCharacters;
};

std::string with_registers_listed(const std::string& line, Budget& budget) {
  static const RE2 run(R"(((%[a-z]+)\[([0-9]{1,4}):([0-9]{1,4})\]))");
  std::string text;
  re2::StringPiece rest(line), all;
  std::string name;
  int first = 0, end = 0;
  for (std::size_t done = 0; RE2::FindAndConsume(&rest, run, &all, &name, &first, &end);) {
    const auto begin = static_cast<std::size_t>(all.data() - line.data());
    text.append(line, done, begin - done);
    const std::size_t before = text.size();
    for (int i = first; i < end; ++i) text += (i > first ? ", " : "") + name + std::to_string(i);
    budget.spend(0, text.size() - before);
    done = begin + all.size();
  }
  return text.append(rest.data(), rest.size());
}

std::vector<std::string> expand(const std::string& line, Budget& budget) {
  std::vector<std::string> texts, pending = {line};  // the next one last
  std::size_t waiting = line.size();
  while (!pending.empty()) {
    const std::string next = std::move(pending.back());
    pending.pop_back();
    waiting -= next.size();
    const auto found = first_alternatives(next);
    if (!found) {
      budget.spend(1, next.size());
      texts.push_back(with_registers_listed(next, budget));
      continue;
    }
    for (auto text = found->texts.rbegin(); text != found->texts.rend(); ++text) {
      pending.push_back(next.substr(0, found->begin) + *text + next.substr(found->end));
      waiting += pending.back().size();
      if (waiting > budget.characters()) budget.spend(0, waiting);
    }
  }
  return texts;
}

}  // namespace

std::vector<std::string> expand(const std::string& line) {
  Budget budget;
  return expand(line, budget);
}

std::string mnemonic(std::string_view ptx) {
  ptx = trimmed(ptx);
  const std::string_view whole = ptx;
  while (ptx.starts_with('{')) ptx = trimmed(ptx.substr(1));  // of a block
  while (ptx.starts_with('.') && ptx.find(';') != ptx.npos)   // declarations
    ptx = trimmed(ptx.substr(ptx.find(';') + 1));
  if (ptx.empty()) ptx = whole;  // a directive alone
  if (ptx.starts_with('@'))
    ptx = trimmed(ptx.substr(std::min(ptx.find_first_of(kBlank), ptx.size())));
  return std::string(ptx.substr(0, ptx.find_first_of(" \t\n;")));
}

std::vector<InstructionRow> rows_of(std::string_view lines) {
  std::vector<InstructionRow> rows;
  Budget budget;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = trimmed(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.empty() || line.starts_with('#') || line.starts_with("//")) continue;
    for (const std::string& text : expand(std::string(line), budget)) {
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

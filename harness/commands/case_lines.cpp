// SPDX-License-Identifier: Apache-2.0
#include "harness/commands/case_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>

namespace assay::commands {
namespace {

using Labels = std::vector<std::string>;

// Names that are the same but for one or more of their parts, and there take every combination.
struct Block {
  std::vector<Labels> parts;
  bool last_is_optional = false;
  std::vector<Target> targets;
  std::vector<const Case*> cases;
};

Labels parts_of(const std::string& name) {
  Labels parts;
  for (const auto& part : std::views::split(name, '/'))
    parts.emplace_back(part.begin(), part.end());
  return parts;
}

std::string label_of(const Case& c, std::size_t part) { return parts_of(c.name)[part]; }

// Joins `from` to `to` if they differ in the labels of `part` alone.
bool join(Block& to, const Block& from, std::size_t part) {
  if (to.parts.size() != from.parts.size() || to.targets != from.targets ||
      to.last_is_optional != from.last_is_optional)
    return false;
  for (std::size_t i = 0; i < to.parts.size(); ++i)
    if (i != part && to.parts[i] != from.parts[i]) return false;
  to.parts[part].insert(to.parts[part].end(), from.parts[part].begin(), from.parts[part].end());
  to.cases.insert(to.cases.end(), from.cases.begin(), from.cases.end());
  return true;
}

// Joins `longer` to `shorter` if it is the same with one part more: "[/graph]".
bool join_longer(Block& shorter, const Block& longer) {
  if (shorter.last_is_optional || longer.last_is_optional || shorter.targets != longer.targets ||
      shorter.parts.size() + 1 != longer.parts.size() ||
      !std::ranges::equal(shorter.parts, longer.parts | std::views::take(shorter.parts.size())))
    return false;
  shorter.parts.push_back(longer.parts.back());
  shorter.last_is_optional = true;
  shorter.cases.insert(shorter.cases.end(), longer.cases.begin(), longer.cases.end());
  return true;
}

template <class Join>
bool join_all(std::vector<Block>& blocks, const Join& join_two) {
  bool joined = false;
  for (std::size_t to = 0; to < blocks.size(); ++to)
    for (std::size_t from = 0; from < blocks.size();)
      if (from != to && join_two(blocks[to], blocks[from])) {
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(from));
        if (from < to) --to;
        joined = true;
      } else {
        ++from;
      }
  return joined;
}

// What varies goes with its last part first, as types and sizes stand before variants of each.
std::vector<Block> blocks_of(const Probe& probe, const std::vector<const Case*>& cases) {
  std::vector<Block> blocks;
  std::size_t most_parts = 0;
  for (const Case* c : cases) {
    Block block{.parts = {}, .targets = probe.targets_of(*c), .cases = {c}};
    for (std::string& part : parts_of(c->name)) block.parts.push_back({std::move(part)});
    most_parts = std::max(most_parts, block.parts.size());
    blocks.push_back(std::move(block));
  }
  for (bool joined = true; joined;) {
    joined = false;
    for (std::size_t part = most_parts; part-- > 0;)
      joined |= join_all(blocks, [part](Block& to, const Block& from) {
        return part < to.parts.size() && join(to, from, part);
      });
    joined |= join_all(blocks, join_longer);
  }
  return blocks;
}

std::string text_of(const Value& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

bool is_number(const std::string& label) {
  return !label.empty() && std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
}

std::string list_of(const Labels& labels) {
  const bool numbers = std::ranges::all_of(labels, is_number);
  const std::size_t most = numbers ? 6 : 16, n = labels.size();
  if (n <= most) return fmt::format("{}", fmt::join(labels, ", "));
  if (numbers)
    return fmt::format("{}, {}, {} ... {}", labels[0], labels[1], labels[2], labels[n - 1]);
  return fmt::format("{} and {} more", fmt::join(labels | std::views::take(most - 4), ", "),
                     n - (most - 4));
}

// A parameter whose value is in every label, with the same text around it.
struct Axis {
  std::string key, before, after;
  Labels values;
};

std::optional<Axis> axis_by(const std::string& key, const Block& block, std::size_t part) {
  Labels labels, values;
  for (const Case* c : block.cases) {
    if (part >= parts_of(c->name).size()) continue;  // without the optional last part
    const auto param = c->params.find(key);
    if (param == c->params.end()) return std::nullopt;
    labels.push_back(label_of(*c, part));
    values.push_back(text_of(param->second));
  }
  const std::string &label = labels.front(), &value = values.front();
  // "64" is in "m64n64" twice: what holds for the other labels tells which it is.
  for (std::size_t at = label.find(value); at != std::string::npos;
       at = label.find(value, at + 1)) {
    Axis axis{key, label.substr(0, at), label.substr(at + value.size()), {}};
    bool fits = true;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      fits &= labels[i] == axis.before + values[i] + axis.after;
      if (std::ranges::find(axis.values, values[i]) == axis.values.end())
        axis.values.push_back(values[i]);
    }
    if (fits && axis.values.size() == block.parts[part].size()) return axis;
  }
  return std::nullopt;
}

std::optional<Axis> axis_of(const Block& block, std::size_t part,
                            const std::set<std::string>& used) {
  std::optional<Axis> best;
  for (const auto& [key, value] : block.cases.front()->params) {
    std::optional<Axis> axis = used.contains(key) ? std::nullopt : axis_by(key, block, part);
    if (axis && (!best || axis->before.size() + axis->after.size() <
                              best->before.size() + best->after.size()))
      best = std::move(axis);
  }
  return best;
}

CaseLine line_of(const Probe& probe, const Block& block) {
  CaseLine line{.pattern = probe.name, .values = {}, .cases = block.cases};
  std::set<std::string> used;
  for (std::size_t part = 0; part < block.parts.size(); ++part) {
    const Labels& labels = block.parts[part];
    const bool optional = block.last_is_optional && part + 1 == block.parts.size();
    std::string text = labels.front();
    if (labels.size() > 1) {
      std::optional<Axis> axis = axis_of(block, part, used);
      if (!axis) {
        std::string name = "case";
        for (int n = 2; used.contains(name); ++n) name = fmt::format("case{}", n);
        axis = Axis{name, "", "", labels};
      }
      used.insert(axis->key);
      text = fmt::format("{}<{}>{}", axis->before, axis->key, axis->after);
      line.values.push_back(fmt::format("{}: {}", axis->key, list_of(axis->values)));
    }
    if (text.empty()) continue;  // the one case that is named like its probe
    line.pattern += optional ? fmt::format("[/{}]", text) : "/" + text;
  }
  return line;
}

}  // namespace

std::vector<CaseLine> case_lines(const Probe& probe, const std::vector<const Case*>& cases) {
  std::vector<CaseLine> lines;
  for (const Block& block : blocks_of(probe, cases)) lines.push_back(line_of(probe, block));
  return lines;
}

}  // namespace assay::commands

// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/form.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>

#include "harness/error.hpp"
#include "harness/instruction/notation.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/instruction/registry.hpp"
#include "harness/isa/environment.hpp"
#include "harness/machine/excerpt.hpp"
#include "harness/machine/files.hpp"
#include "harness/run/selection.hpp"

namespace assay::isa {
namespace {

// The environment's register class for a type of the tables: "s32" is "%r".
std::string_view register_class(const std::string& type) {
  if (type == "f32") return "%f";
  if (type == "f64") return "%fd";
  if (type == "pred") return "%p";
  if (type.ends_with("128")) return "%q";
  if (type.ends_with("64")) return "%rd";
  return type.ends_with("16") ? "%h" : "%r";
}

// The row's operands as registers of the environment, numbered from 0 in each class; other names in
// angle brackets are the environment's own.
std::string plain_text(const InstructionRow& row) {
  std::map<std::string_view, int> used;
  std::string text = row.ptx;
  const auto substitute = [&](const Operand& operand) {
    const std::string_view kind = register_class(operand.reg);
    std::string all;
    for (int i = 0; i < operand.count; ++i) {
      const std::string one = fmt::format("{}{}", kind, used[kind]++);
      all += (i ? ", " : "") + one;
      text = replace_all(text, fmt::format("<{}.{}>", operand.name, i), one);
    }
    text = replace_all(text, "<" + operand.name + ">", all);
  };
  if (!row.chain.name.empty()) substitute(row.chain);
  for (const Operand& input : row.inputs) substitute(input);
  static const RE2 own("<([a-z0-9]+)>");
  RE2::GlobalReplace(&text, own, R"(%\1)");
  return text;
}

// What makes two forms one: a single instruction is the same whichever registers it names; of
// several, which of them share a register matters.
std::string identity(const std::string& text) {
  static const RE2 numbered(R"(%(p|h|rs|r|f|rd|fd|q)([0-9]+)\b)");
  const bool single = std::ranges::count(text, ';') == 1;
  std::map<std::string, std::map<std::string, std::size_t>> numbers;  // class, then as written
  std::string result;
  std::size_t done = 0;
  re2::StringPiece found[3];  // all, class, number
  while (numbered.Match(text, done, text.size(), RE2::UNANCHORED, found, 3)) {
    const std::string kind(found[1]);
    auto& known = numbers[kind];
    const std::size_t number = known.emplace(std::string(found[2]), known.size()).first->second;
    const auto begin = static_cast<std::size_t>(found[0].data() - text.data());
    result.append(text, done, begin - done);
    result += fmt::format("%{}{}", kind, single ? "" : std::to_string(number));
    done = begin + found[0].size();
  }
  return result.append(text, done);
}

bool is_timed(const InstructionRow& row) { return row.step || row.step_bits || row.sass; }

void require_unique_names(const std::vector<Form>& forms) {
  std::set<std::string_view> names, twice;
  for (const Form& form : forms)
    if (!names.insert(form.name).second) twice.insert(form.name);
  if (!twice.empty())
    throw Error(ExitCode::usage, fmt::format("several forms are named '{}': tell them apart by a "
                                             "note after '#' on their lines",
                                             fmt::join(twice, "', '")));
}

constexpr std::size_t kLargestModule = std::size_t{4}
                                       << 20;                // bytes: half a minute for all targets
constexpr std::size_t kLargestFile = std::size_t{64} << 20;  // that is looked at at all
constexpr std::size_t kLargestList = std::size_t{1} << 20;

// Throws Error(usage) for what is no PTX, and for more of it than can be judged in sensible time.
// `where` names the file, or is "--ptx".
void require_ptx(std::string_view text, const std::string& where) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::usage, fmt::format("{}: {}", where, why));
  };
  const auto holds = [&](std::string_view part) { return text.find(part) != text.npos; };
  if (text.starts_with("\x7f"
                       "ELF") ||
      text.starts_with("\x50\xed\x55\xba"))
    refuse(fmt::format("is machine code, not PTX; `assay sass {}` reads it", where));
  if (text.starts_with("\xef\xbb\xbf"))
    refuse("begins with a byte order mark, which no assembler of PTX takes: save it without one");
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    refuse(fmt::format("is no text: byte {} is 0x{:02x}; give PTX", i + 1, c));
  }
  if (holds("__global__") || holds("#include"))
    refuse("is CUDA C++, not PTX; `nvcc -ptx` makes PTX of it");
  if (text.size() > kLargestModule)
    refuse(
        fmt::format("{:.1f} MB of PTX; at most {} MiB are judged at once: give the kernels that "
                    "matter in a module of their own",
                    static_cast<double>(text.size()) / 1e6, kLargestModule >> 20));
}

// Each comment as blanks, so that places stay what they are. What begins one within a string of a
// line begins none.
std::string without_comments(std::string text) {
  enum class In : std::uint8_t { text, line, block } in = In::text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in == In::text && text[i] == '"')
      if (const std::size_t end = text.find_first_of("\"\n", i + 1); end != text.npos) i = end;
    const std::string_view pair = std::string_view(text).substr(i, 2);
    if (in == In::text && (pair == "//" || pair == "/*")) {
      in = pair == "//" ? In::line : In::block;
      text[i++] = ' ';  // the second is no part of an end
    } else if (in == In::line && text[i] == '\n') {
      in = In::text;
    }
    const bool ends = in == In::block && pair == "*/";
    if (in != In::text && text[i] != '\n') text[i] = ' ';
    if (ends) {
      text[++i] = ' ';
      in = In::text;
    }
  }
  return text;
}

std::string contents(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw Error(ExitCode::usage, fmt::format("cannot read '{}': no such file (and no PTX, which "
                                             "ends with a semicolon)",
                                             excerpt(path.string())));
  return read_file(path, kLargestFile);
}

std::vector<InstructionRow> rows_of(const std::string& text, const std::string& source) {
  try {
    return notation::rows_of(text);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", source, error.what()));
  }
}

}  // namespace

bool is_module(const std::string& ptx) {
  static const RE2 version(R"((?:^|\n)[ \t]*\.version\s)");
  return RE2::PartialMatch(ptx, version);
}

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  std::map<std::string, std::size_t> known_forms;  // by identity
  for (const bool timed : {false, true})
    for (const RegisteredRow& registered : instruction_rows()) {
      if (is_timed(registered.row) != timed) continue;
      const std::string text = plain_text(registered.row);
      const auto [known, is_new] = known_forms.emplace(identity(text), forms.size());
      if (is_new)
        forms.push_back({.name = registered.name, .group = registered.group, .ptx = text});
      if (timed) forms[known->second].timed = registered.name;
    }
  require_unique_names(forms);
  return forms;
}

std::vector<Form> select_forms(const std::string& filter) {
  std::vector<Form> all = all_forms();
  if (filter.empty()) return all;
  const Filter expression(filter);
  // Rows that are told from another form by their registers alone go by that form's name.
  std::set<std::string> named;
  for (const RegisteredRow& registered : instruction_rows())
    if (is_timed(registered.row) && expression.is_in(registered.name))
      named.insert(identity(plain_text(registered.row)));
  std::vector<Form> chosen;
  for (const Form& form : all)
    if (form.name == filter || expression.is_in(form.name) || expression.is_in(form.ptx) ||
        named.contains(identity(form.ptx)))
      chosen.push_back(form);
  if (!chosen.empty()) return chosen;
  std::vector<std::string> names;
  for (const Form& form : all) names.push_back(form.name);
  throw Error(
      ExitCode::usage,
      fmt::format("no instruction matches '{}'; the nearest are {} (try your own with --ptx)",
                  excerpt(filter), fmt::join(nearest(filter, names), ", ")));
}

std::vector<Form> forms_from(const std::string& source) {
  std::error_code ignored;
  const bool is_file = source.find_first_of(" ;\n") == source.npos ||
                       std::filesystem::is_regular_file(source, ignored);
  if (source.find_first_not_of(" \t\r\n") == source.npos)
    throw Error(ExitCode::usage, "--ptx holds no PTX: give some, or a file of it");
  const std::string text = is_file ? contents(source) : source;
  require_ptx(text, is_file ? source : "--ptx");
  const std::string group = is_file ? std::filesystem::path(source).filename().string() : "ptx";
  std::vector<Form> forms;
  const std::string plain = without_comments(text);
  if (is_module(plain)) {
    static const RE2 kernel(R"(\.entry\s)");
    if (!RE2::PartialMatch(plain, kernel))
      throw Error(
          ExitCode::usage,
          fmt::format("{}: is a module without a kernel (.entry): of functions that none "
                      "calls there is no machine code to judge; add a kernel that calls them",
                      is_file ? source : "--ptx"));
    forms.push_back({.name = group, .group = group, .ptx = plain});
    return forms;
  }
  if (text.size() > kLargestList)
    throw Error(ExitCode::usage,
                fmt::format("{}: {:.1f} MB of forms, and no module, which begins with .version; at "
                            "most {} MiB are judged at once",
                            is_file ? source : "--ptx", static_cast<double>(text.size()) / 1e6,
                            kLargestList >> 20));
  std::map<std::string, int> used;
  for (const InstructionRow& row : rows_of(plain, is_file ? source : "--ptx")) {
    const std::string name = row.name.empty() ? row.ptx : row.name;
    const int number = ++used[name];
    forms.push_back({.name = number == 1 ? name : fmt::format("{} ({})", name, number),
                     .group = group,
                     .ptx = row.ptx});
  }
  if (forms.empty())
    throw Error(ExitCode::usage, fmt::format("{} holds no PTX: give one instruction a line",
                                             is_file ? source : "--ptx"));
  return forms;
}

}  // namespace assay::isa

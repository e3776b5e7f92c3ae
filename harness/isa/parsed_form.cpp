// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/parsed_form.hpp"

#include <re2/re2.h>

#include <algorithm>

namespace assay::isa {
namespace {

constexpr Companion kCompanions[] = {
    {"wgmma.mma_async", "wgmma.fence.sync.aligned;",
     "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"},
    {"tcgen05.ld", "", "tcgen05.wait::ld.sync.aligned;"},
    // A kernel that may run without clusters has a second way for each of these.
    {"barrier.cluster", "", "", ".explicitcluster"},
    {"%cluster", "", "", ".explicitcluster"},
    // Else the assembler does not know how many registers there are before, and ignores it.
    {"setmaxnreg", "", "", ".maxnreg 128"},
};

constexpr std::string_view kOfOneThread[] = {
    "cp.async.bulk",  "cp.reduce.async.bulk", "tcgen05.mma",         "tcgen05.cp",
    "tcgen05.commit", "tcgen05.shift",        "clusterlaunchcontrol"};

// Without comments, blanks at either end and semicolons; what stands in braces is one piece.
std::vector<std::string> statements(std::string_view ptx) {
  std::vector<std::string> found;
  std::string current;
  const auto flush = [&] {
    const std::size_t begin = current.find_first_not_of(" \t\r\n");
    if (begin != current.npos)
      found.push_back(current.substr(begin, current.find_last_not_of(" \t\r\n") - begin + 1));
    current.clear();
  };
  int depth = 0;
  for (std::size_t i = 0; i < ptx.size(); ++i) {
    // Within a string nothing ends a statement or begins a comment.
    if (const std::size_t end = ptx[i] == '"' ? ptx.find('"', i + 1) : ptx.npos; end != ptx.npos) {
      current += ptx.substr(i, end + 1 - i);
      i = end;
      continue;
    }
    if (ptx.substr(i).starts_with("//")) i = ptx.find('\n', i);
    if (ptx.substr(std::min(i, ptx.size())).starts_with("/*")) {
      const std::size_t end = ptx.find("*/", i + 2);
      i = end == ptx.npos ? end : end + 2;
    }
    if (i >= ptx.size()) break;  // the comment is the end
    depth += (ptx[i] == '{') - (ptx[i] == '}');
    if (ptx[i] != ';' || depth > 0) current += ptx[i] == '\n' ? ' ' : ptx[i];
    const bool scope_ends = ptx[i] == '}' && current.find_first_not_of(' ') == current.find('{');
    if (depth == 0 && (ptx[i] == ';' || scope_ends)) flush();
  }
  flush();
  return found;
}

// Directives that stand between a kernel's name and its body (PTX ISA, "Performance-Tuning
// Directives" and "Cluster Dimension Directives").
bool is_launch_directive(const std::string& statement) {
  constexpr std::string_view kDirectives[] = {
      ".maxnreg",        ".maxntid",           ".reqntid",           ".minnctapersm",
      ".maxnctapersm",   ".noreturn",          ".reqnctapercluster", ".explicitcluster",
      ".maxclusterrank", ".blocksareclusters", ".abi_preserve"};
  return std::ranges::any_of(kDirectives, [&](auto name) { return statement.starts_with(name); });
}

// Identifiers that may be registers, in the order of their first use.
std::vector<std::string> names(const std::string& text) {
  static const RE2 identifier(R"(([%$_A-Za-z][\w$]*))");
  std::vector<std::string> found;
  re2::StringPiece rest(text);
  for (std::string name; RE2::FindAndConsume(&rest, identifier, &name);) found.push_back(name);
  return found;
}

}  // namespace

// Declarations, directives, text. What declares registers of its own in braces means the same
// without them, unless a name stands for two registers.
void ParsedForm::take(const std::string& statement) {
  if (statement.starts_with(".reg")) return declare(statement);
  if (statement.starts_with(".shared")) {
    shared_ += statement + "; ";
  } else if (is_launch_directive(statement)) {
    launch_ += statement + "\n";
  } else if (statement.starts_with('{') && statement.ends_with('}') &&
             statement.find(".reg", 1) == statement.rfind(".reg")) {
    for (const std::string& inner :
         isa::statements(std::string_view(statement).substr(1, statement.size() - 2)))
      take(inner);
  } else {
    if (!statement.starts_with('.')) ++statements_;
    text_ += (text_.empty() ? "" : " ") + statement + (statement.starts_with('{') ? "" : ";");
  }
}

ParsedForm::ParsedForm(std::string_view ptx) {
  for (const std::string& statement : isa::statements(ptx)) take(statement);
  for (const std::string& name : names(text_)) {
    if (std::ranges::find(registers_, name, &Register::name) != registers_.end()) continue;
    const auto declared = declared_.find(name);
    if (declared != declared_.end())
      registers_.push_back({name, declared->second});
    else if (const auto known = environment_register(name))
      registers_.push_back(*known);
  }
  for (const std::string& statement : isa::statements(text_)) note_operands(statement);
}

// ".reg .b32 a, b<4>": b<4> is b0 to b3.
void ParsedForm::declare(const std::string& statement) {
  static const RE2 form(R"(\.reg\s+\.(\w+)\s+)"), item(R"(([%$_A-Za-z][\w$]*)(?:<(\d{1,4})>)?)");
  re2::StringPiece rest(statement);
  std::string type;
  if (!RE2::FindAndConsume(&rest, form, &type)) {
    text_ += statement + ";";  // for the assembler to complain about
    return;
  }
  for (std::string name, count; RE2::FindAndConsume(&rest, item, &name, &count);) {
    if (count.empty()) declared_[name] = type;
    for (int i = 0; !count.empty() && i < std::stoi(count); ++i)
      declared_[name + std::to_string(i)] = type;
  }
}

// Destinations are the first operand, unless that is an address; everything else is read. Under a
// guard a destination keeps what it held. Nothing is known of what stands in braces.
void ParsedForm::note_operands(const std::string& statement) {
  const bool guarded = statement.starts_with('@'), scope = statement.starts_with('{');
  std::size_t begin = guarded ? std::min(statement.find(' '), statement.size()) : 0;
  std::string read = statement.substr(0, begin), destination;
  begin = statement.find(' ', statement.find_first_not_of(' ', begin));  // past the opcode
  if (begin != statement.npos) {
    int depth = 0;
    std::size_t end = begin;
    for (; end < statement.size() && (statement[end] != ',' || depth > 0); ++end)
      depth += (statement[end] == '{') - (statement[end] == '}');
    destination = statement.substr(begin, end - begin);
    read += statement.substr(end);
  }
  const bool address = destination.find('[') != destination.npos;
  if (guarded || scope || address) read += destination;
  for (const std::string& name : names(scope ? statement : read))
    if (!written_.contains(name)) read_.insert(name);
  if (address) return;
  for (const std::string& name : names(scope ? statement : destination)) written_.insert(name);
}

std::vector<const Companion*> ParsedForm::companions() const {
  std::vector<const Companion*> found;
  for (const Companion& companion : kCompanions)
    if (text_.find(companion.prefix) != text_.npos) found.push_back(&companion);
  return found;
}

bool ParsedForm::is_of_one_thread() const {
  return std::ranges::any_of(
      kOfOneThread, [&](std::string_view opcode) { return text_.find(opcode) != text_.npos; });
}

}  // namespace assay::isa

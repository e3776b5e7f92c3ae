// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "harness/isa/environment.hpp"
#include "harness/isa/notation.hpp"

namespace assay::isa {
namespace {

constexpr int kThreads = 128;  // a warpgroup
constexpr int kSlot = 16;      // bytes between registers, in memory and among the parameters

// What some instructions need around them in the same thread, so that their operands are ready and
// their results can be read.
struct Companion {
  std::string_view prefix, before, after;
};
constexpr Companion kCompanions[] = {
    {"wgmma.mma_async", "wgmma.fence.sync.aligned;",
     "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"},
    {"tcgen05.ld", "", "tcgen05.wait::ld.sync.aligned;"},
};

// One thread of a warp issues these. Without elect.sync around them the assembler adds a loop that
// elects threads itself.
constexpr std::string_view kOfOneThread[] = {
    "cp.async.bulk",  "cp.reduce.async.bulk", "tcgen05.mma",         "tcgen05.cp",
    "tcgen05.commit", "tcgen05.shift",        "clusterlaunchcontrol"};

int bits(const Register& reg) {
  if (reg.type == "pred") return 32;
  const std::size_t digits = reg.type.find_first_of("0123456789");
  if (digits == reg.type.npos) return 32;  // no type at all: for the assembler to complain about
  const std::string width = reg.type.substr(digits);  // "16x2"
  const std::size_t times = width.find('x');
  return std::stoi(width) * (times == width.npos ? 1 : std::stoi(width.substr(times + 1)));
}

// A form's text taken apart: what it declares, what it names, and what it writes.
class Parsed {
 public:
  explicit Parsed(std::string_view ptx) {
    for (const std::string& statement : statements(ptx)) {
      if (statement.starts_with(".reg"))
        declare(statement);
      else if (statement.starts_with(".shared"))
        shared_ += statement + "; ";
      else
        text_ += (text_.empty() ? "" : " ") + statement + (statement.starts_with('{') ? "" : ";");
    }
    for (const std::string& name : names(text_)) {
      if (std::ranges::find(registers_, name, &Register::name) != registers_.end()) continue;
      const auto declared = declared_.find(name);
      if (declared != declared_.end())
        registers_.push_back({name, declared->second});
      else if (const auto known = environment_register(name))
        registers_.push_back(*known);
    }
    for (const std::string& statement : statements(text_)) note_operands(statement);
  }

  const std::string& text() const { return text_; }
  const std::string& shared() const { return shared_; }
  const std::vector<Register>& registers() const { return registers_; }
  // Before it is written, if it is written at all.
  bool reads(const Register& reg) const { return read_.contains(reg.name); }
  bool writes(const Register& reg) const { return written_.contains(reg.name); }
  // Is stored in the end: predicates that are read too, so that their making is the frame's.
  bool shows(const Register& reg) const {
    return writes(reg) || (reg.type == "pred" && reads(reg));
  }
  bool holds(std::string_view opcode) const { return text_.find(opcode) != text_.npos; }

 private:
  // Without comments, blanks at either end and semicolons; what stands in braces is one piece.
  static std::vector<std::string> statements(std::string_view ptx) {
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
      if (ptx.substr(i).starts_with("//")) i = std::min(ptx.find('\n', i), ptx.size() - 1);
      depth += (ptx[i] == '{') - (ptx[i] == '}');
      if (ptx[i] != ';' || depth > 0) current += ptx[i] == '\n' ? ' ' : ptx[i];
      const bool scope_ends = ptx[i] == '}' && current.find_first_not_of(' ') == current.find('{');
      if (depth == 0 && (ptx[i] == ';' || scope_ends)) flush();
    }
    flush();
    return found;
  }

  // Identifiers that may be registers, in the order of their first use.
  static std::vector<std::string> names(const std::string& text) {
    static const std::regex identifier(R"([%$_A-Za-z][\w$]*)");
    std::vector<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), identifier), end; it != end; ++it)
      found.push_back(it->str());
    return found;
  }

  // ".reg .b32 a, b<4>": b<4> is b0 to b3.
  void declare(const std::string& statement) {
    static const std::regex form(R"(\.reg\s+\.(\w+)\s+)"),
        item(R"(([%$_A-Za-z][\w$]*)(<(\d{1,4})>)?)");
    std::smatch head;
    if (!std::regex_search(statement, head, form)) {
      text_ += statement + ";";  // for the assembler to complain about
      return;
    }
    const std::string rest = head.suffix();
    for (std::sregex_iterator it(rest.begin(), rest.end(), item), end; it != end; ++it) {
      if (!(*it)[2].matched) declared_[(*it)[1]] = head[1];
      for (int i = 0; (*it)[2].matched && i < std::stoi((*it)[3]); ++i)
        declared_[(*it)[1].str() + std::to_string(i)] = head[1];
    }
  }

  // Destinations are the first operand, unless that is an address; everything else is read. Under a
  // guard a destination keeps what it held. Nothing is known of what stands in braces.
  void note_operands(const std::string& statement) {
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

  std::string text_, shared_;  // without and with line ends
  std::map<std::string, std::string> declared_;
  std::vector<Register> registers_;
  std::set<std::string> read_, written_;
};

// Text that knows its line.
class Writer {
 public:
  void line(const std::string& text) {
    text_ += text + "\n";
    ++next_;
    for (const char c : text) next_ += c == '\n';
  }
  int next_line() const { return next_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  int next_ = 1;
};

// Registers that one load or store moves: one, or four 32-bit ones in a row.
struct Piece {
  std::size_t first, count;
};

class Kernel {
 public:
  Kernel(const Parsed& form, bool with_form) : form_(form), with_form_(with_form) {}

  // From the line behind the name; `own` becomes the line of the form.
  void write(Writer& out, int& own) const {
    out.line(fmt::format("(.param .align 16 .b8 p_uniform[{}])",
                         kSlot * std::max<std::size_t>(form_.registers().size(), 1)));
    out.line(fmt::format(".maxntid {}\n{{", kThreads));
    out.line(".reg .b64 %assay_at;\n.reg .b32 %assay_lane;\n.reg .pred %assay_elected;");
    if (with_form_) out.line(form_.shared());
    // An address has to differ from thread to thread, which the clock does for all the assembler
    // knows, and without arithmetic that a form's could be shared with.
    out.line("mov.u64 %assay_at, %clock64;\nmov.u32 %assay_lane, %tid.x;");
    const bool elected =
        std::ranges::any_of(kOfOneThread, [&](auto opcode) { return form_.holds(opcode); });
    if (elected) out.line("elect.sync _|%assay_elected, -1;\n@!%assay_elected bra assay_done;");
    for (std::size_t i = 0; i < form_.registers().size(); ++i) {
      out.line(fmt::format(".reg .{} {};", form_.registers()[i].type, form_.registers()[i].name));
      if (form_.registers()[i].type == "b128")
        out.line(fmt::format(".reg .b64 %assay_low{0}, %assay_high{0};", i));
    }
    for (const Piece& piece : pieces([&](const Register& reg) { return form_.reads(reg); }))
      load(out, piece);
    for (const Companion& companion : kCompanions)
      if (form_.holds(companion.prefix)) out.line(std::string(companion.before));
    if (with_form_) {
      own = out.next_line();
      out.line(form_.text());
    }
    for (const Companion& companion : kCompanions)
      if (form_.holds(companion.prefix)) out.line(std::string(companion.after));
    for (const Piece& piece : pieces([&](const Register& reg) { return form_.shows(reg); }))
      store(out, piece);
    out.line("assay_done:\nret;\n}");
  }

 private:
  // Of the registers that are `wanted`.
  std::vector<Piece> pieces(const std::function<bool(const Register&)>& wanted) const {
    const std::vector<Register>& registers = form_.registers();
    const auto is_word = [&](const Register& reg) {
      return reg.type != "pred" && !reg.uniform && bits(reg) == 32 && wanted(reg);
    };
    std::vector<Piece> found;
    for (std::size_t i = 0, step = 1; i < registers.size(); i += step) {
      const auto rest = std::span(registers).subspan(i);
      const bool four = rest.size() >= 4 && std::ranges::all_of(rest.first(4), is_word);
      step = four ? 4 : 1;
      if (wanted(rest.front())) found.push_back({i, step});
    }
    return found;
  }

  static std::string address(std::size_t i) { return fmt::format("[%assay_at+{}]", i * kSlot); }

  std::string vector(const Piece& piece) const {
    std::string text;
    for (std::size_t i = piece.first; i < piece.first + piece.count; ++i)
      text += (text.empty() ? "{" : ", ") + form_.registers()[i].name;
    return text + "}";
  }

  static std::string load_one(const Register& reg, int width, const std::string& to,
                              std::size_t i) {
    return reg.uniform ? fmt::format("ld.param.b{} {}, [p_uniform+{}];", width, to, i * kSlot)
                       : fmt::format("ld.volatile.global.b{} {}, {};", width, to, address(i));
  }

  void load(Writer& out, const Piece& piece) const {
    const std::size_t i = piece.first;
    const Register& reg = form_.registers()[i];
    if (piece.count > 1) {
      out.line(fmt::format("ld.volatile.global.v4.b32 {}, {};", vector(piece), address(i)));
    } else if (reg.type == "pred") {
      const std::string word = fmt::format("%assay_word{}", i);
      out.line(fmt::format(".reg .b32 {};", word));
      out.line(load_one(reg, 32, word, i));
      out.line(fmt::format("setp.ne.s32 {}, {}, 0;", reg.name, word));
    } else if (bits(reg) == 128) {
      out.line(fmt::format("ld.volatile.global.v2.b64 {{%assay_low{0}, %assay_high{0}}}, {1};", i,
                           address(i)));
      out.line(fmt::format("mov.b128 {1}, {{%assay_low{0}, %assay_high{0}}};", i, reg.name));
    } else {
      out.line(load_one(reg, bits(reg), reg.name, i));
    }
  }

  void store(Writer& out, const Piece& piece) const {
    const std::size_t i = piece.first;
    const Register& reg = form_.registers()[i];
    if (piece.count > 1) {
      out.line(fmt::format("st.volatile.global.v4.b32 {}, {};", address(i), vector(piece)));
    } else if (reg.type == "pred") {
      // A predicate shows by what it guards; in the frame nothing has written it.
      const bool known = form_.reads(reg) || (with_form_ && form_.writes(reg));
      out.line(fmt::format("{}st.volatile.global.b32 {}, %assay_lane;",
                           known ? "@" + reg.name + " " : "", address(i)));
    } else if (bits(reg) == 128) {
      out.line(fmt::format("mov.b128 {{%assay_low{0}, %assay_high{0}}}, {1};", i, reg.name));
      out.line(fmt::format("st.volatile.global.v2.b64 {1}, {{%assay_low{0}, %assay_high{0}}};", i,
                           address(i)));
    } else {
      out.line(fmt::format("st.volatile.global.b{} {}, {};", bits(reg), address(i), reg.name));
    }
  }

  const Parsed& form_;
  bool with_form_;
};

}  // namespace

Module module_text(std::span<const Form* const> forms, std::string_view architecture) {
  Module module;
  Writer out;
  out.line(fmt::format(".version 9.0\n.target {}\n.address_size 64", architecture));
  std::map<std::string, std::string> frames;  // text to name
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Parsed parsed(forms[i]->ptx);
    Writer frame;
    int none = 0;
    Kernel(parsed, false).write(frame, none);
    const std::string text = frame.take();
    const auto [known, is_new] = frames.emplace(text, fmt::format("frame_{}", i));
    FormPlace place{
        .begin = out.next_line(), .kernel = fmt::format("form_{}", i), .frame = known->second};
    out.line(".visible .entry " + place.kernel);
    Kernel(parsed, true).write(out, place.own);
    if (is_new) out.line(".visible .entry " + place.frame + "\n" + text);
    place.end = out.next_line();
    module.forms.push_back(std::move(place));
  }
  module.ptx = out.take();
  return module;
}

}  // namespace assay::isa

// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/isa/parsed_form.hpp"

namespace assay::isa {
namespace {

constexpr int kThreads = 128;        // a warpgroup
constexpr std::size_t kSlot = 16;    // bytes between registers, in memory and among the parameters
constexpr std::size_t kSlots = 256;  // parameters: as many as there are registers

// A register of a kernel, and what happens to it.
struct Slot {
  Register reg;
  bool loaded, stored;
  bool known;  // a predicate: has a value in the end, so that it can guard its store
};

std::vector<Slot> slots_of(const ParsedForm& form) {
  std::vector<Slot> slots;
  for (const Register& reg : form.registers()) {
    const bool read = form.reads(reg), written = form.writes(reg);
    // Predicates that are read are stored too, so that their making is not taken for the form's.
    slots.push_back({.reg = reg,
                     .loaded = read,
                     .stored = written || reg.type == "pred",
                     .known = read || written});
  }
  return slots;
}

// The same without the form: what only it would use is left out, and names say nothing any more, so
// that forms with like operands have one frame.
std::vector<Slot> frame_slots(std::vector<Slot> slots) {
  std::erase_if(slots, [](const Slot& slot) {
    return !slot.stored && (!slot.loaded || slot.reg.uniform);  // loads of parameters can go
  });
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Register& reg = slots[i].reg;
    reg.name = fmt::format("%assay_{}", i);
    if (reg.type != "pred") reg.type = fmt::format("b{}", bits(reg));
    slots[i].known = slots[i].loaded;
  }
  return slots;
}

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

// Slots that one load or store moves: one, or four of 32 bits in a row.
struct Piece {
  std::size_t first, count;
};

// A kernel from the line behind its name on; `form` is null in a frame.
class Kernel {
 public:
  Kernel(const ParsedForm& around, const ParsedForm* form)
      : around_(around), form_(form), slots_(slots_of(around)) {
    if (!form) slots_ = frame_slots(std::move(slots_));
  }

  // Returns the line of the form.
  int write(Writer& out) const {
    out.line(fmt::format("(.param .align 16 .b8 p_uniform[{}])", kSlot * kSlots));
    for (const Companion* companion : around_.companions())
      out.line(std::string(companion->directive));
    out.line(fmt::format(".maxntid {}\n{{", kThreads));
    out.line(".reg .b64 %assay_at;\n.reg .b32 %assay_lane;\n.reg .pred %assay_elected;");
    if (form_) out.line(form_->shared());
    // An address that differs from thread to thread, for the assembler treats others in their own
    // way; and made without arithmetic, which a form could share.
    out.line("mov.u32 %assay_lane, %tid.x;\nmov.b64 %assay_at, {%assay_lane, %assay_lane};");
    if (around_.is_of_one_thread())
      out.line("elect.sync _|%assay_elected, -1;\n@!%assay_elected bra assay_done;");
    for (std::size_t i = 0; i < slots_.size(); ++i) declare(out, i);
    for (const Piece& piece : pieces(&Slot::loaded)) load(out, piece);
    for (const Companion* companion : around_.companions())
      out.line(std::string(companion->before));
    const int own = out.next_line();
    if (form_) out.line(form_->text());
    for (const Companion* companion : around_.companions()) out.line(std::string(companion->after));
    for (const Piece& piece : pieces(&Slot::stored)) store(out, piece);
    out.line("assay_done:\nret;\n}");
    return own;
  }

 private:
  std::vector<Piece> pieces(bool Slot::*wanted) const {
    const auto is_word = [&](const Slot& slot) {
      return slot.reg.type != "pred" && !slot.reg.uniform && bits(slot.reg) == 32 && slot.*wanted;
    };
    std::vector<Piece> found;
    for (std::size_t i = 0, step = 1; i < slots_.size(); i += step) {
      const auto rest = std::span(slots_).subspan(i);
      step = rest.size() >= 4 && std::ranges::all_of(rest.first(4), is_word) ? 4 : 1;
      if (rest.front().*wanted) found.push_back({i, step});
    }
    return found;
  }

  void declare(Writer& out, std::size_t i) const {
    const Register& reg = slots_[i].reg;
    out.line(fmt::format(".reg .{} {};", reg.type, reg.name));
    if (reg.type == "pred") out.line(fmt::format(".reg .b32 %assay_word{};", i));
    if (reg.type == "b128") out.line(fmt::format(".reg .b64 %assay_low{0}, %assay_high{0};", i));
  }

  static std::string address(std::size_t i) { return fmt::format("[%assay_at+{}]", i * kSlot); }

  std::string vector(const Piece& piece) const {
    std::string text;
    for (std::size_t i = piece.first; i < piece.first + piece.count; ++i)
      text += (text.empty() ? "{" : ", ") + slots_[i].reg.name;
    return text + "}";
  }

  static std::string load_one(const Register& reg, int width, const std::string& to,
                              std::size_t i) {
    return reg.uniform ? fmt::format("ld.param.b{} {}, [p_uniform+{}];", width, to, i * kSlot)
                       : fmt::format("ld.volatile.global.b{} {}, {};", width, to, address(i));
  }

  void load(Writer& out, const Piece& piece) const {
    const std::size_t i = piece.first;
    const Register& reg = slots_[i].reg;
    if (piece.count > 1) {
      out.line(fmt::format("ld.volatile.global.v4.b32 {}, {};", vector(piece), address(i)));
    } else if (reg.type == "pred") {
      const std::string word = fmt::format("%assay_word{}", i);
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
    const Register& reg = slots_[i].reg;
    if (piece.count > 1) {
      out.line(fmt::format("st.volatile.global.v4.b32 {}, {};", address(i), vector(piece)));
    } else if (reg.type == "pred") {
      // A predicate shows by what it guards; in the frame nothing has written it.
      out.line(fmt::format("{}st.volatile.global.b32 {}, %assay_lane;",
                           slots_[i].known ? "@" + reg.name + " " : "", address(i)));
    } else if (bits(reg) == 128) {
      out.line(fmt::format("mov.b128 {{%assay_low{0}, %assay_high{0}}}, {1};", i, reg.name));
      out.line(fmt::format("st.volatile.global.v2.b64 {1}, {{%assay_low{0}, %assay_high{0}}};", i,
                           address(i)));
    } else {
      out.line(fmt::format("st.volatile.global.b{} {}, {};", bits(reg), address(i), reg.name));
    }
  }

  const ParsedForm& around_;
  const ParsedForm* form_;
  std::vector<Slot> slots_;
};

}  // namespace

Module module_text(std::span<const Form* const> forms, std::string_view architecture) {
  Module module;
  Writer out;
  out.line(fmt::format(".version 9.0\n.target {}\n.address_size 64", architecture));
  std::map<std::string, std::string> frames;  // text to name
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const ParsedForm parsed(forms[i]->ptx);
    Writer frame;
    Kernel(parsed, nullptr).write(frame);
    const std::string text = frame.take();
    const auto [known, is_new] = frames.emplace(text, fmt::format("frame_{}", i));
    FormPlace place{
        .begin = out.next_line(), .kernel = fmt::format("form_{}", i), .frame = known->second};
    out.line(".visible .entry " + place.kernel);
    place.own = Kernel(parsed, &parsed).write(out);
    if (is_new) out.line(".visible .entry " + place.frame + "\n" + text);
    place.end = out.next_line();
    module.forms.push_back(std::move(place));
  }
  module.ptx = out.take();
  return module;
}

}  // namespace assay::isa

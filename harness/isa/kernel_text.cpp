// SPDX-License-Identifier: Apache-2.0
#include "harness/isa/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/instruction/kernel_text.hpp"
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
    if (reg.type != "pred") reg.type = fmt::format("b{}", bits_of(reg.type));
    slots[i].known = slots[i].loaded;
  }
  return slots;
}

int lines_in(std::string_view text) { return static_cast<int>(std::ranges::count(text, '\n')); }

// Slots that one load or store moves: one, or four of 32 bits in a row.
struct Piece {
  std::size_t first, count;
};

// The kernel of a form, or its frame if `form` is null.
class Kernel {
 public:
  Kernel(const ParsedForm& around, const ParsedForm* form) : slots_(slots_of(around)) {
    if (!form) slots_ = frame_slots(std::move(slots_));
    entry_ = {.parameters = {fmt::format(".param .align 16 .b8 p_uniform[{}]", kSlot * kSlots)},
              .threads = kThreads};
    for (const Companion* companion : around.companions())
      if (!companion->directive.empty()) entry_.directives.emplace_back(companion->directive);
    if (form && !form->launch().empty()) {
      entry_.directives.push_back(form->launch().substr(0, form->launch().size() - 1));
      // These say how many threads there are themselves.
      if (form->launch().find("ntid") != std::string::npos) entry_.threads = 0;
    }
    std::string& body = entry_.body;
    body = ".reg .b64 %assay_at;\n.reg .b32 %assay_lane;\n.reg .pred %assay_elected;\n";
    if (form && !form->shared().empty()) body += form->shared() + "\n";
    // An address that differs from thread to thread, for the assembler treats others in their own
    // way; and made without arithmetic, which a form could share.
    body += "mov.u32 %assay_lane, %tid.x;\nmov.b64 %assay_at, {%assay_lane, %assay_lane};\n";
    if (around.is_of_one_thread())
      body += "elect.sync _|%assay_elected, -1;\n@!%assay_elected bra assay_done;\n";
    for (std::size_t i = 0; i < slots_.size(); ++i) declare(i);
    for (const Piece& piece : pieces(&Slot::loaded)) load(piece);
    for (const Companion* companion : around.companions())
      body += std::string(companion->before) + "\n";
    own_ = lines_in(body);
    if (form) body += form->text() + "\n";
    for (const Companion* companion : around.companions())
      body += std::string(companion->after) + "\n";
    for (const Piece& piece : pieces(&Slot::stored)) store(piece);
    body += "assay_done:\n";
  }

  std::string text(const std::string& name) {
    entry_.name = name;
    return entry_text(entry_);
  }
  // The line of the form in text(), the first being 0.
  int own_line() const {
    const std::string whole = entry_text(entry_);
    return lines_in(whole.substr(0, whole.find("\n{\n") + 3)) + own_;
  }

 private:
  std::vector<Piece> pieces(bool Slot::*wanted) const {
    const auto is_word = [&](const Slot& slot) {
      return slot.reg.type != "pred" && !slot.reg.uniform && bits_of(slot.reg.type) == 32 &&
             slot.*wanted;
    };
    std::vector<Piece> found;
    for (std::size_t i = 0, step = 1; i < slots_.size(); i += step) {
      const auto rest = std::span(slots_).subspan(i);
      step = rest.size() >= 4 && std::ranges::all_of(rest.first(4), is_word) ? 4 : 1;
      if (rest.front().*wanted) found.push_back({i, step});
    }
    return found;
  }

  // What predicates and 128-bit registers are loaded and stored by way of.
  static std::string scratch(std::size_t i) { return fmt::format("%assay_{}_by", i); }

  void declare(std::size_t i) {
    const Register& reg = slots_[i].reg;
    entry_.body += fmt::format(".reg .{} {};\n", reg.type, reg.name);
    if (reg.type == "pred") entry_.body += fmt::format(".reg .b32 {};\n", scratch(i));
    if (bits_of(reg.type) == 128)
      entry_.body += fmt::format(".reg .b64 {0}_low, {0}_high;\n", scratch(i));
  }

  static std::string address(std::size_t i) { return fmt::format("%assay_at+{}", i * kSlot); }

  std::string vector(const Piece& piece) const {
    std::string text;
    for (std::size_t i = piece.first; i < piece.first + piece.count; ++i)
      text += (text.empty() ? "{" : ", ") + slots_[i].reg.name;
    return text + "}";
  }

  void load(const Piece& piece) {
    const std::size_t i = piece.first;
    const Register& reg = slots_[i].reg;
    entry_.body +=
        piece.count > 1
            ? fmt::format("  ld.volatile.global.v4.b32 {}, [{}];\n", vector(piece), address(i))
        : reg.uniform ? load_text({reg.name, reg.type}, "param",
                                  fmt::format("p_uniform+{}", i * kSlot), scratch(i))
                      : load_text({reg.name, reg.type}, "volatile.global", address(i), scratch(i));
  }

  void store(const Piece& piece) {
    const std::size_t i = piece.first;
    const Register& reg = slots_[i].reg;
    // A predicate shows by what it guards; in the frame nothing has written it.
    const std::string guard = slots_[i].known ? "@" + reg.name + " " : "";
    entry_.body +=
        piece.count > 1
            ? fmt::format("  st.volatile.global.v4.b32 [{}], {};\n", address(i), vector(piece))
        : reg.type == "pred"
            ? fmt::format("  {}st.volatile.global.b32 [{}], %assay_lane;\n", guard, address(i))
            : store_text({reg.name, reg.type}, "volatile.global", address(i), scratch(i));
  }

  PtxEntry entry_;
  std::vector<Slot> slots_;
  int own_ = 0;  // the line of the form in the body
};

}  // namespace

Module module_text(std::span<const Form* const> forms, std::string_view architecture) {
  Module module{.ptx = module_header(architecture), .forms = {}};
  const auto next_line = [&] { return lines_in(module.ptx) + 1; };
  std::map<std::string, std::string> frames;  // text without a name, to name
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const ParsedForm parsed(forms[i]->ptx);
    Kernel frame(parsed, nullptr), kernel(parsed, &parsed);
    const auto [known, is_new] = frames.emplace(frame.text(""), fmt::format("frame_{}", i));
    FormPlace place{
        .begin = next_line(), .kernel = fmt::format("form_{}", i), .frame = known->second};
    place.own = place.begin + kernel.own_line();
    module.ptx += kernel.text(place.kernel);
    if (is_new) module.ptx += frame.text(place.frame);
    place.end = next_line();
    module.forms.push_back(std::move(place));
  }
  return module;
}

}  // namespace assay::isa

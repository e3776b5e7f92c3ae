// SPDX-License-Identifier: Apache-2.0
// Rows of an instruction table as PTX text.
//
// `in` holds 8-byte slots, [slot][thread], one slot per register: of each row first each chain's,
// then the inputs' but for uniform ones. `out` gets the chains' in the same order, from CTA 0.
#include "harness/instruction/row_ptx.hpp"

#include <fmt/format.h>

#include "harness/element.hpp"
#include "harness/error.hpp"
#include "harness/instruction/kernel_text.hpp"
#include "harness/instruction/ptx_text.hpp"

namespace assay {
namespace {

// "%d3_0": register 0 of operand d in chain 3; inputs have no chain.
std::string reg(const Operand& operand, int index, int chain) {
  return chain < 0 ? fmt::format("%{}_{}", operand.name, index)
                   : fmt::format("%{}{}_{}", operand.name, chain, index);
}

// Loads and stores know bit types of any register but predicates.
std::string moved_as(const Operand& operand) {
  return operand.reg == "pred" ? "pred" : fmt::format("b{}", register_bits(operand));
}

}  // namespace

int register_bits(const Operand& operand) { return bits_of(operand.reg); }

std::uint64_t chain_start(const InstructionRow& row, int chain) {
  return pack(row.chain.element, register_bits(row.chain), row.d0 + chain);
}

std::uint64_t input_bits(const InstructionRow& row, std::size_t i) {
  if (i >= row.inputs.size()) return 0;
  const Operand& input = row.inputs[i];
  return pack(input.element, register_bits(input), input.fixed.value_or(i == 0 ? row.a : row.b));
}

std::string tuple(const Operand& operand, int chain) {
  std::string text;
  for (int i = 0; i < operand.count; ++i) text += (i ? ", " : "") + reg(operand, i, chain);
  return text;
}

std::string fill_in(std::string text, const Operand& operand, int chain) {
  text = replace_all(text, "<" + operand.name + ">", tuple(operand, chain));
  for (int i = 0; i < operand.count; ++i)
    text = replace_all(text, fmt::format("<{}.{}>", operand.name, i), reg(operand, i, chain));
  return text;
}

namespace {

// The parts of a kernel that one row brings. With several rows, the names of a row's operands are
// made its own by its number.
class RowText {
 public:
  RowText(const InstructionRow& row, const KernelShape& shape, std::size_t number)
      : row_(row), shape_(shape), ptx_(row.ptx), chain_(own(row.chain, number)) {
    for (const Operand& input : row.inputs) inputs_.push_back(own(input, number));
  }

  std::string declarations() const {
    std::string text;
    const auto declare = [&](const Operand& operand, int chain) {
      text += fmt::format("  .reg .{} {};\n", operand.reg, tuple(operand, chain));
    };
    for (int c = 0; c < shape_.chains; ++c) declare(chain_, c);
    for (const Operand& input : inputs_) {
      declare(input, -1);
      if (shape_.entangle) declare(mixed(input), -1);
    }
    return text;
  }

  std::string loads(int& slot, int threads) const {
    std::string text;
    const auto load = [&](const Operand& operand, int chain) {
      for (int i = 0; i < operand.count; ++i, ++slot)
        text += load_text({reg(operand, i, chain), moved_as(operand)}, "global",
                          fmt::format("%in+{}", slot * threads * 8), "%mix");
    };
    for (int c = 0; c < shape_.chains; ++c)
      if (chain_.uniform)
        text += make_uniform(chain_, chain_start(row_, c), c);
      else
        load(chain_, c);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].uniform)
        text += make_uniform(inputs_[i], input_bits(row_, i), -1);
      else
        load(inputs_[i], -1);
    return text;
  }

  std::string stores(int& slot, int threads) const {
    std::string text = chain_.uniform ? ask_for_uniform() : "";
    for (int c = 0; c < shape_.chains; ++c)
      for (int i = 0; i < chain_.count; ++i, ++slot)
        text += store_text({reg(chain_, i, c), moved_as(chain_)}, "global",
                           fmt::format("%out+{}", slot * threads * 8), "%mix", "%first");
    return text;
  }

  // One execution in chain `c`.
  std::string copy(int c) const {
    std::string text, one = fill_in(ptx_, chain_, c);
    for (const Operand& input : inputs_) {
      if (shape_.entangle) text += entangle(input, c);
      one = fill_in_as(std::move(one), input, shape_.entangle ? mixed(input) : input);
    }
    if (one.find('<') != std::string::npos)
      throw Error(ExitCode::usage,
                  fmt::format("row '{}': its PTX names an operand that it does not declare: {}",
                              row_.name, one.substr(one.find('<'))));
    return text + "  " + one + "\n";
  }

 private:
  Operand own(Operand operand, std::size_t number) {
    if (number == 0) return operand;
    const std::string name = operand.name;
    operand.name = fmt::format("{}_{}_", name, number);
    ptx_ = replace_all(replace_all(ptx_, "<" + name + ">", "<" + operand.name + ">"),
                       "<" + name + ".", "<" + operand.name + ".");
    return operand;
  }

  // %zero comes from a kernel parameter: all threads have it, and the assembler knows no value.
  static std::string make_uniform(const Operand& operand, std::uint64_t bits, int chain) {
    std::string text;
    for (int i = 0; i < operand.count; ++i)
      text += register_bits(operand) == 64
                  ? fmt::format("  mov.b64 {0}, {{%zero, %zero}};\n  xor.b64 {0}, {0}, {1:#x};\n",
                                reg(operand, i, chain), bits)
                  : fmt::format("  xor.b32 {}, %zero, {:#x};\n", reg(operand, i, chain), bits);
    return text;
  }

  // An instruction that takes a uniform register, never executed: grids are one CTA high.
  std::string ask_for_uniform() const {
    std::string text =
        "  {\n  .reg .pred %never;\n  .reg .b64 %base;\n  ld.param.u64 %base, [p_records];\n"
        "  setp.eq.u32 %never, %one, 0;\n";
    for (int c = 0; c < shape_.chains; ++c)
      text += fmt::format("  @%never cp.async.bulk.prefetch.L2.global [%base], {};\n",
                          reg(chain_, 0, c));
    return text + "  }\n";
  }

  static Operand mixed(Operand input) {
    input.name = "t_" + input.name;
    return input;
  }

  // What the text calls `input` as registers of `used`.
  static std::string fill_in_as(std::string text, const Operand& input, const Operand& used) {
    text = replace_all(std::move(text), "<" + input.name + ">", tuple(used, -1));
    for (int i = 0; i < input.count; ++i)
      text = replace_all(std::move(text), fmt::format("<{}.{}>", input.name, i), reg(used, i, -1));
    return text;
  }

  // The chain's bits and-ed with zero change nothing, but only the caller knows that zero is 0:
  // whatever the instruction becomes must be done again each time. Costs one LOP3 a register.
  std::string entangle(const Operand& input, int c) const {
    std::string text;
    for (int i = 0; i < input.count; ++i)
      text += fmt::format(
          "  mov.b32 %mix, {};\n  and.b32 %mix, %mix, %zero;\n  xor.b32 {}, {}, %mix;\n",
          reg(chain_, 0, c), reg(mixed(input), i, -1), reg(input, i, -1));
    return text;
  }

  const InstructionRow& row_;
  const KernelShape& shape_;
  std::string ptx_;
  Operand chain_;
  std::vector<Operand> inputs_;
};

}  // namespace

std::string instruction_ptx(std::span<const InstructionRow> rows, const KernelShape& shape,
                            const std::string& entry, Target target) {
  const int threads = shape.warps * 32;
  PtxKernel kernel{.target = target, .entry = entry, .threads = threads};
  kernel.declarations = "  .reg .b64 %offset;\n  .reg .b32 %mix;\n";
  kernel.setup =
      "  mul.wide.u32 %offset, %thread, 8;\n"
      "  add.u64 %in, %in, %offset;\n"
      "  add.u64 %out, %out, %offset;\n";
  int in_slot = 0, out_slot = 0;
  std::vector<RowText> texts;
  for (std::size_t r = 0; r < rows.size(); ++r) texts.emplace_back(rows[r], shape, r);
  for (const RowText& text : texts) {
    kernel.declarations += text.declarations();
    kernel.setup += text.loads(in_slot, threads);
    kernel.finish += text.stores(out_slot, threads);
  }
  for (int u = 0; u < shape.unroll; ++u)
    for (const RowText& text : texts)
      for (int c = 0; c < shape.chains; ++c) kernel.loop += text.copy(c);
  return ptx_text(kernel);
}

}  // namespace assay

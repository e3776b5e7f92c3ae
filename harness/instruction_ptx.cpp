// SPDX-License-Identifier: Apache-2.0
// A row of an instruction table as PTX text.
//
// `in` holds 8-byte slots, [slot][thread], one slot per register: first each chain's, then the
// inputs'. `out` gets the chains' in the same order, from CTA 0.
#include "harness/instruction_ptx.hpp"

#include <fmt/format.h>

#include "harness/error.hpp"
#include "harness/ptx_text.hpp"

namespace assay {
namespace {

// "%d3_0": register 0 of operand d in chain 3; inputs have no chain.
std::string reg(const Operand& operand, int index, int chain) {
  return chain < 0 ? fmt::format("%{}_{}", operand.name, index)
                   : fmt::format("%{}{}_{}", operand.name, chain, index);
}

// Loads, stores and moves know bit types of any register.
std::string bit_type(const Operand& operand) { return operand.reg.ends_with("64") ? "b64" : "b32"; }

// The chain's bits and-ed with zero change nothing, but only the caller knows that zero is 0:
// whatever the instruction becomes must be done again each time. Costs one LOP3 a register.
std::string entangled(const Operand& input, const Operand& chain, int c, const Operand& mixed) {
  std::string text;
  for (int i = 0; i < input.count; ++i)
    text +=
        fmt::format("  mov.b32 %mix, {};\n  and.b32 %mix, %mix, %zero;\n  xor.b32 {}, {}, %mix;\n",
                    reg(chain, 0, c), reg(mixed, i, -1), reg(input, i, -1));
  return text;
}

}  // namespace

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

std::string instruction_ptx(const InstructionRow& row, const KernelShape& shape,
                            const std::string& entry, Target target) {
  const int threads = shape.warps * 32;
  PtxKernel kernel{.target = target, .entry = entry, .threads = threads};
  kernel.declarations = "  .reg .b64 %offset;\n  .reg .b32 %mix;\n";
  kernel.setup =
      "  mul.wide.u32 %offset, %thread, 8;\n"
      "  add.u64 %in, %in, %offset;\n"
      "  add.u64 %out, %out, %offset;\n";
  int slot = 0;
  const auto declare_and_load = [&](const Operand& operand, int chain) {
    kernel.declarations += fmt::format("  .reg .{} {};\n", operand.reg, tuple(operand, chain));
    for (int i = 0; i < operand.count; ++i, ++slot)
      kernel.setup += fmt::format("  ld.global.{} {}, [%in+{}];\n", bit_type(operand),
                                  reg(operand, i, chain), slot * threads * 8);
  };
  for (int c = 0; c < shape.chains; ++c) declare_and_load(row.chain, c);
  for (const Operand& input : row.inputs) declare_and_load(input, -1);
  const auto mixed = [](Operand input) {
    input.name = "t_" + input.name;
    return input;
  };
  if (shape.entangle)
    for (const Operand& input : row.inputs)
      kernel.declarations += fmt::format("  .reg .{} {};\n", input.reg, tuple(mixed(input), -1));

  for (int u = 0; u < shape.unroll; ++u) {
    for (int c = 0; c < shape.chains; ++c) {
      std::string one = fill_in(row.ptx, row.chain, c);
      for (const Operand& input : row.inputs) {
        Operand used = input;
        if (shape.entangle) {
          used = mixed(input);
          kernel.loop += entangled(input, row.chain, c, used);
          one = replace_all(replace_all(one, "<" + input.name + ">", "<" + used.name + ">"),
                            "<" + input.name + ".", "<" + used.name + ".");
        }
        one = fill_in(std::move(one), used, -1);
      }
      if (one.find('<') != std::string::npos)
        throw Error(ExitCode::usage,
                    fmt::format("row '{}': its PTX names an operand that it does not declare: {}",
                                row.name, one.substr(one.find('<'))));
      kernel.loop += "  " + one + "\n";
    }
  }
  slot = 0;
  for (int c = 0; c < shape.chains; ++c)
    for (int i = 0; i < row.chain.count; ++i, ++slot)
      kernel.finish += fmt::format("  @%first st.global.{} [%out+{}], {};\n", bit_type(row.chain),
                                   slot * threads * 8, reg(row.chain, i, c));
  return ptx_text(kernel);
}

}  // namespace assay

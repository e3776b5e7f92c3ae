// SPDX-License-Identifier: Apache-2.0
// A row of an instruction table as PTX text.
//
// .entry (u64 records, u64 in, u64 out, u32 iterations, u32 zero)
//   in:   8-byte slots, [slot][thread], one slot per register: first each chain's, then the inputs'
//   out:  the same for the chains, written by CTA 0
//   zero: 0, which the assembler cannot know
#include <fmt/format.h>

#include "harness/error.hpp"
#include "harness/instruction_probe.hpp"

namespace assay {
namespace {

std::string reg(const Operand& operand, int index, int chain = -1) {
  return chain < 0 ? fmt::format("%{}_{}", operand.name, index)
                   : fmt::format("%{}{}_{}", operand.name, chain, index);
}

std::string tuple(const Operand& operand, int chain = -1) {
  std::string text;
  for (int i = 0; i < operand.count; ++i) text += (i ? ", " : "") + reg(operand, i, chain);
  return text;
}

int bytes(const Operand& operand) { return operand.reg.ends_with("64") ? 8 : 4; }

// Loads, stores and moves know bit types of any register.
std::string bit_type(const Operand& operand) { return bytes(operand) == 8 ? "b64" : "b32"; }

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

std::string ptx_header(Target target) {
  return fmt::format(".version 9.0\n.target {}\n.address_size 64\n\n", name(target));
}

std::string instruction_ptx(const InstructionRow& row, const KernelShape& shape,
                            const std::string& entry, Target target) {
  const int threads = shape.warps * 32;
  std::string text = ptx_header(target);
  text += fmt::format(
      ".visible .entry {}(.param .u64 p_records, .param .u64 p_in, .param .u64 p_out,\n"
      "    .param .u32 p_iterations, .param .u32 p_zero)\n.maxntid {}\n{{\n"
      "  .reg .pred %loop, %first, %lead;\n"
      "  .reg .b32 %iterations, %zero, %thread, %cta, %sm, %unused;\n"
      "  .reg .b64 %records, %in, %out, %offset, %start, %stop, %start_ns, %stop_ns;\n",
      entry, threads);
  for (int c = 0; c < shape.chains; ++c)
    text += fmt::format("  .reg .{} {};\n", row.chain.reg, tuple(row.chain, c));
  for (const Operand& input : row.inputs) {
    text += fmt::format("  .reg .{} {};\n", input.reg, tuple(input));
    if (shape.entangle)
      text += fmt::format("  .reg .{} {};\n", input.reg, replace_all(tuple(input), "%", "%t_"));
  }
  if (shape.entangle) text += "  .reg .b32 %mix;\n";
  text +=
      "  ld.param.u64 %records, [p_records];\n"
      "  ld.param.u64 %in, [p_in];\n"
      "  ld.param.u64 %out, [p_out];\n"
      "  ld.param.u32 %iterations, [p_iterations];\n"
      "  ld.param.u32 %zero, [p_zero];\n"
      "  mov.u32 %thread, %tid.x;\n"
      "  mov.u32 %cta, %ctaid.x;\n"
      "  mul.wide.u32 %offset, %thread, 8;\n"
      "  add.u64 %in, %in, %offset;\n"
      "  add.u64 %out, %out, %offset;\n";
  int slot = 0;
  const auto load = [&](const Operand& operand, int chain) {
    for (int i = 0; i < operand.count; ++i, ++slot)
      text += fmt::format("  ld.global.{} {}, [%in+{}];\n", bit_type(operand),
                          reg(operand, i, chain), slot * threads * 8);
  };
  for (int c = 0; c < shape.chains; ++c) load(row.chain, c);
  for (const Operand& input : row.inputs) load(input, -1);

  text +=
      "  bar.sync 0;\n"
      "  mov.u64 %start_ns, %globaltimer;\n"
      "  mov.u64 %start, %clock64;\n"
      "  .pragma \"nounroll\";\n"
      "repeat:\n";
  for (int u = 0; u < shape.unroll; ++u) {
    for (int c = 0; c < shape.chains; ++c) {
      std::string one = replace_all(row.ptx, "<" + row.chain.name + ">", tuple(row.chain, c));
      for (const Operand& input : row.inputs) {
        std::string registers = tuple(input);
        if (shape.entangle) {
          // The chain's bits and-ed with zero change nothing, but only the program's caller knows:
          // whatever the instruction becomes must be done again each time. One LOP3 a register.
          registers = replace_all(registers, "%", "%t_");
          for (int i = 0; i < input.count; ++i)
            text += fmt::format(
                "  mov.b32 %mix, {};\n  and.b32 %mix, %mix, %zero;\n"
                "  xor.b32 %t_{}, {}, %mix;\n",
                reg(row.chain, 0, c), reg(input, i).substr(1), reg(input, i));
        }
        one = replace_all(one, "<" + input.name + ">", registers);
      }
      if (one.find('<') != std::string::npos)
        throw Error(ExitCode::usage,
                    fmt::format("row '{}': its PTX names an operand that it does not declare: {}",
                                row.name, one.substr(one.find('<'))));
      text += "  " + one + "\n";
    }
  }
  text +=
      "  sub.u32 %iterations, %iterations, 1;\n"
      "  setp.ne.u32 %loop, %iterations, 0;\n"
      "  @%loop bra repeat;\n"
      "  bar.sync 0;\n"
      "  mov.u64 %stop, %clock64;\n"
      "  mov.u64 %stop_ns, %globaltimer;\n"
      "  mov.u32 %sm, %smid;\n"
      "  mov.u32 %unused, 0;\n"
      "  setp.eq.u32 %lead, %thread, 0;\n"
      "  mad.wide.u32 %records, %cta, 40, %records;\n"
      "  @%lead st.global.u64 [%records], %start;\n"
      "  @%lead st.global.u64 [%records+8], %stop;\n"
      "  @%lead st.global.u64 [%records+16], %start_ns;\n"
      "  @%lead st.global.u64 [%records+24], %stop_ns;\n"
      "  @%lead st.global.v2.u32 [%records+32], {%sm, %unused};\n"
      "  setp.eq.u32 %first, %cta, 0;\n";
  slot = 0;
  for (int c = 0; c < shape.chains; ++c)
    for (int i = 0; i < row.chain.count; ++i, ++slot)
      text += fmt::format("  @%first st.global.{} [%out+{}], {};\n", bit_type(row.chain),
                          slot * threads * 8, reg(row.chain, i, c));
  return text + "  ret;\n}\n";
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
// The tables of scalar instructions, a file for each kind, and what they share.
//
// A row is one instruction as the assembler makes it from PTX: the rules name the opcodes of each
// target. ops counts instructions per thread: an HFMA2 is one, though it does two multiply-adds.
// Rows take care of three things:
//  - no row may undo itself or be idempotent in a way that ptxas sees, or it drops copies: -1/d,
//  not
//    1/d;
//  - what is needed to go on from the result, when its type is not the operand's, is bits read as
//    they are or a second, cheap instruction; param per_step then names both, and latency_cycles is
//    that of the pair;
//  - chains end with a value computed here, to the last bit.
#pragma once
#include <bit>
#include <string>
#include <vector>

#include "harness/callable.hpp"
#include "harness/instruction/row_probe.hpp"

namespace assay::scalar {

using Bits = std::uint64_t;  // of a register
using Word = std::uint32_t;
using Sass = Callable<std::vector<SassRule>(Target)>;
using StepBits = Callable<Bits(Bits d, Bits a, Bits b, int)>;

// The tables.
std::vector<InstructionRow> float_rows();
std::vector<InstructionRow> double_rows();
std::vector<InstructionRow> half_rows();
std::vector<InstructionRow> packed_f32_rows();
std::vector<InstructionRow> integer_rows();
std::vector<InstructionRow> bit_rows();
std::vector<InstructionRow> dpx_rows();
std::vector<InstructionRow> dot_rows();
std::vector<InstructionRow> conversion_rows();
std::vector<InstructionRow> narrow_float_rows();
std::vector<InstructionRow> warp_rows();
std::vector<InstructionRow> uniform_rows();

// Kinds of operands.
inline const Operand kF32{"d", "f32", "f32"}, kF64{"d", "f64", "f64"}, kF16x2{"d", "b32", "f16"},
    kBf16x2{"d", "b32", "bf16"}, kF32x2{"d", "b64", "f32"}, kWord{"d", "b32", "u32"},
    kFloatWord{"d", "b32", "f32"}, kDoubleWord{"d", "b64", "u32"}, kF64Bits{"d", "b64", "f64"},
    kHalfWord{"d", "b16", "u32"}, kPredicate{"d", "pred", "u32"};
Operand named(const char* name, Operand kind);
// The same for all threads, and seen to be so.
Operand uniform(const char* name, Operand kind);

// What <d> starts with in the first chain (one more in each other) and what <a> and <b> hold.
struct Values {
  double d0 = 1, a = 0.5, b = 0.25;
};

// A row whose chain <d> and inputs <a> and <b>, as far as its text names them, are of one kind.
InstructionRow row(const std::string& name, const std::string& ptx, const Operand& kind,
                   StepBits step, Sass sass, Values values = {});
// The same with inputs of their own kinds.
InstructionRow row(const std::string& name, const std::string& ptx, const Operand& chain,
                   std::vector<Operand> inputs, StepBits step, Sass sass, Values values = {});
// Rows that exist only on targets with a feature.
std::vector<InstructionRow> only_with(Feature feature, std::vector<InstructionRow> rows);
std::vector<InstructionRow> joined(std::initializer_list<std::vector<InstructionRow>> parts);
// A row of more than one instruction for each execution.
InstructionRow per_step(const std::string& instructions, InstructionRow row);
// A row whose execution is `count` of the same instruction, each needing the one before.
InstructionRow in_a_row(int count, InstructionRow row);

// The opcode, or alternatives "A|B", that each execution becomes; several; or one thing where the
// target has a feature, and another elsewhere.
Sass one(const std::string& opcode);
Sass each_of(std::vector<std::pair<std::string, int>> opcodes);
Sass by_feature(Feature feature, Sass there, Sass elsewhere);

// A step by what it does to each T in a register.
template <class T>
StepBits lanes(T (*step)(T d, T a, T b)) {
  using Unsigned = std::conditional_t<
      sizeof(T) == 8, Bits,
      std::conditional_t<sizeof(T) == 4, Word,
                         std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  return [step](Bits d, Bits a, Bits b, int) {
    Bits result = 0;
    for (unsigned at = 0; at < 64; at += 8 * sizeof(T)) {
      const auto lane = [at](Bits bits) {
        return std::bit_cast<T>(static_cast<Unsigned>(bits >> at));
      };
      result |= Bits{std::bit_cast<Unsigned>(step(lane(d), lane(a), lane(b)))} << at;
    }
    return result;
  };
}
// A step by the value of each element (harness/element.hpp), rounded to nearest.
StepBits elements(const std::string& type, double (*step)(double d, double a, double b));

// Rounding as .rz and .rm do.
float toward_zero(double value);
float downward(double value);

}  // namespace assay::scalar

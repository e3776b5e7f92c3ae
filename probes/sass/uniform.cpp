// SPDX-License-Identifier: Apache-2.0
// Predicates, the uniform path, and special registers.
//
// The uniform path computes once for a warp, on registers (UR) that all its lanes share. ptxas
// takes it for values made of kernel parameters whose use asks for a uniform register. ops counts
// one result a warp here.
#include <algorithm>
#include <bit>
#include <cmath>

#include "probes/sass/rows.hpp"

namespace assay::scalar {
namespace {

using Signed = std::int32_t;

// A row whose chain and inputs are all uniform.
InstructionRow uniform_row(const std::string& name, const std::string& ptx, const Operand& kind,
                           StepBits step, Sass sass, Values values) {
  InstructionRow made = row(name, ptx, kind, std::move(step), std::move(sass), values);
  made.chain.uniform = true;
  for (Operand& input : made.inputs) input.uniform = true;
  return made;
}

std::vector<InstructionRow> integer_uniform_rows() {
  const auto form = [](const std::string& name, const std::string& ptx, const std::string& opcode,
                       Word (*step)(Word, Word, Word), Values values) {
    return uniform_row(name, ptx, kWord, lanes<Word>(step), one(opcode), values);
  };
  constexpr Values kOdd{.d0 = 1, .a = 3, .b = 5}, kShift{.d0 = 0x12345678, .a = 0x3333, .b = 5};
  return {
      // The loop counts with one, too.
      uniform_row(
          "uiadd3/s32", "add.u32 <d>, <d>, <a>; add.u32 <d>, <d>, <b>;", kWord,
          lanes<Word>([](Word d, Word a, Word b) { return d + a + b; }),
          [](Target) {
            return std::vector<SassRule>{{"UIADD3", 1, 2}};
          },
          kOdd),
      form(
          "uimad/s32", "mad.lo.u32 <d>, <d>, <a>, <b>;", "UIMAD",
          [](Word d, Word a, Word b) { return d * a + b; }, kOdd),
      form("uimad/hi_u32", "mul.hi.u32 <d>, <d>, <a>;", "UIMAD.WIDE.U32",
           [](Word d, Word a, Word) { return static_cast<Word>(Bits{d} * a >> 32); },
           {.d0 = 0x7fff1234, .a = 0xfffffff0}),
      form(
          "ulea/s32", "{ .reg .b32 %t; shl.b32 %t, <a>, 3; add.u32 <d>, %t, <d>; }", "ULEA",
          [](Word d, Word a, Word) { return d + (a << 3); }, kOdd),
      form("ulop3/b32", "lop3.b32 <d>, <d>, <a>, <b>, 0x6a;", "ULOP3",
           [](Word d, Word a, Word b) { return b ^ (d & a); },
           {.d0 = 0x12345678, .a = 0x3333, .b = 0x5555}),
      form(
          "ushf/b32", "shf.l.wrap.b32 <d>, <d>, <a>, <b>;", "USHF.L.W",
          [](Word d, Word a, Word b) { return a << b | d >> (32 - b); }, kShift),
      form("ushf/right_u32", "shr.u32 <d>, <a>, <d>;", "USHF.R.U32.HI",
           [](Word d, Word a, Word) { return d >= 32 ? 0 : a >> d; }, {.d0 = 1, .a = 0x12}),
      form("uprmt/b32", "prmt.b32 <d>, <d>, <a>, <b>;", "UPRMT",
           [](Word d, Word a, Word) { return d >> 8 | a << 24; },
           {.d0 = 0x12345678, .a = 0x33, .b = 0x4321}),
      form("upopc/b32", "popc.b32 <d>, <d>;", "UPOPC",
           [](Word d, Word, Word) { return static_cast<Word>(std::popcount(d)); }, {.d0 = 0xffff}),
      form("uflo/u32", "bfind.u32 <d>, <d>;", "UFLO.U32",
           [](Word d, Word, Word) { return d ? 31 - static_cast<Word>(std::countl_zero(d)) : ~0u; },
           {.d0 = 0xffff0000}),
      form("ubrev/b32", "brev.b32 <d>, <d>;", "UBREV",
           [](Word d, Word, Word) {
             Word reversed = 0;
             for (int i = 0; i < 32; ++i) reversed |= (d >> i & 1) << (31 - i);
             return reversed;
           },
           {.d0 = 0x12345678}),
      // The chain says how many bits count.
      form("usgxt/wrap_u32", "szext.wrap.u32 <d>, <a>, <d>;", "USGXT.W.U32",
           [](Word d, Word a, Word) { return a & ((1u << (d & 31)) - 1); }, {.d0 = 3, .a = 0x2d5}),
      form("ubmsk/wrap_b32", "bmsk.wrap.b32 <d>, <d>, <a>;", "UBMSK.W",
           [](Word d, Word a, Word) {
             return static_cast<Word>(((Bits{1} << (a & 31)) - 1) << (d & 31));
           },
           {.d0 = 1, .a = 5})};
}

std::vector<InstructionRow> select_uniform_rows() {
  return {
      per_step("UISETP + USEL",
               uniform_row(
                   "uisetp/s32_select",
                   "{ .reg .pred %p; setp.lt.s32 %p, <d>, <a>; "
                   "selp.b32 <d>, <b>, <d>, %p; }",
                   kWord, lanes<Signed>([](Signed d, Signed a, Signed b) { return d < a ? b : d; }),
                   each_of({{"UISETP.GE", 1}, {"USEL", 1}}), {.d0 = 2, .a = 4, .b = 1})),
      per_step("minimum and maximum",
               uniform_row("uvimnmx/s32", "max.s32 <d>, <d>, <a>; min.s32 <d>, <d>, <b>;", kWord,
                           lanes<Signed>([](Signed d, Signed a, Signed b) {
                             return std::min(std::max(d, a), b);
                           }),
                           by_feature(Feature::typed_vimnmx, each_of({{"UVIMNMX.S32", 2}}),
                                      each_of({{"UISETP.LT", 2}, {"USEL", 2}})),
                           {.d0 = 1, .a = 2, .b = 4}))};
}

// Where there is no floating point on the uniform path, ptxas takes the lanes' for it.
std::vector<InstructionRow> float_uniform_rows() {
  const auto form = [](const std::string& name, const std::string& ptx, const std::string& opcode,
                       float (*step)(float, float, float), Values values = {}) {
    return uniform_row(name, ptx, kFloatWord, lanes<float>(step), one(opcode), values);
  };
  return only_with(
      Feature::uniform_floats,
      {form("ufadd/f32", "add.rn.f32 <d>, <d>, <a>;", "UFADD",
            [](float d, float a, float) { return d + a; }),
       form("ufmul/f32", "mul.rn.f32 <d>, <d>, <a>;", "UFMUL",
            [](float d, float a, float) { return d * a; }, {.a = -1}),
       form("uffma/f32", "fma.rn.f32 <d>, <d>, <a>, <b>;", "UFFMA",
            [](float d, float a, float b) { return std::fma(d, a, b); }),
       form("ufrnd/nearest_f32", "neg.f32 <d>, <d>; cvt.rni.f32.f32 <d>, <d>;", "UFRND",
            [](float d, float, float) { return std::rint(-d); }, {.d0 = 1.25}),
       uniform_row("ui2fp/f32_s32", "cvt.rn.f32.s32 <d>, <d>;", kWord,
                   lanes<Word>([](Word d, Word, Word) {
                     return std::bit_cast<Word>(static_cast<float>(static_cast<Signed>(d)));
                   }),
                   one("UI2FP.F32.S32"), {.d0 = 1000})});
}

// Both bits of a predicate's truth come from a comparison (LOP3), so that ptxas cannot make the
// exclusive or part of it.
InstructionRow predicate_row() {
  return per_step("LOP3 + PLOP3",
                  row("plop3/pred",
                      "{ .reg .b32 %t; .reg .pred %q; lop3.or.b32 %t|%q, <a>, <b>, <a>, 0x80, <d>; "
                      "xor.pred <d>, <d>, %q; }",
                      kPredicate, {named("a", kWord), named("b", kWord)},
                      [](Bits d, Bits, Bits, int) { return Bits{d == 0}; },
                      each_of({{"LOP3", 1}, {"PLOP3", 1}}), {.d0 = 0, .a = 3, .b = 5}));
}

// Bits to predicates: five of them say how often a is added.
InstructionRow bits_to_predicates_row() {
  std::string ptx = "{ .reg .b32 %t; .reg .pred %p0, %p1, %p2, %p3, %p4; ";
  for (int i = 0; i < 5; ++i)
    ptx += "and.b32 %t, <d>, " + std::to_string(1 << i) + "; setp.ne.u32 %p" + std::to_string(i) +
           ", %t, 0; ";
  for (int i = 0; i < 5; ++i) ptx += "@%p" + std::to_string(i) + " add.u32 <d>, <d>, <a>; ";
  return per_step("R2P + 5 additions",
                  row("r2p/b32", ptx + "}", kWord, lanes<Word>([](Word d, Word a, Word) {
                        return d + a * static_cast<Word>(std::popcount(d & 31));
                      }),
                      each_of({{"R2P", 1}, {"IADD3|IMAD.IADD|VIADD", 5}}), {.d0 = 1, .a = 3}));
}

// What is read counts for nothing: and-ed with a zero, then or-ed to the chain, by a LOP3 for each
// word.
InstructionRow special_register_row(InstructionRow row) {
  row = per_step("read + LOP3", std::move(row));
  row.independent = true;
  return row;
}

std::vector<InstructionRow> special_register_rows() {
  const auto same = [](Bits d, Bits, Bits, int) { return d; };
  return joined(
      {{special_register_row(row(
           "cs2r/clock_b64",
           "{ .reg .b64 %t; .reg .b32 %low, %high, %x, %y; mov.u64 %t, %clock64; "
           "mov.b64 {%low, %high}, %t; mov.b64 {%x, %y}, <d>; lop3.b32 %x, %low, %zero, %x, 0xea; "
           "lop3.b32 %y, %high, %zero, %y, 0xea; mov.b64 <d>, {%x, %y}; }",
           kDoubleWord, same, each_of({{"CS2R|CS2UR", 1}, {"LOP3", 2}})))},
       only_with(Feature::uniform_arithmetic,
                 {special_register_row(uniform_row(
                     "s2ur/smid",
                     "{ .reg .b32 %t; mov.u32 %t, %smid; lop3.b32 <d>, %t, %zero, <d>, 0xea; }",
                     kWord, same, each_of({{"S2UR", 1}, {"ULOP3", 1}}), {}))})});
}

}  // namespace

std::vector<InstructionRow> uniform_rows() {
  return joined({only_with(Feature::uniform_arithmetic,
                           joined({integer_uniform_rows(), select_uniform_rows()})),
                 float_uniform_rows(),
                 {predicate_row(), bits_to_predicates_row()},
                 special_register_rows()});
}

}  // namespace assay::scalar

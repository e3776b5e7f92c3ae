// SPDX-License-Identifier: Apache-2.0
// Integers of 32 bits, pairs of 16, and pieces of 64: sums, products, comparison, minimum,
// selection.
//
// ptxas adds with whatever pipe is free: an addition may be IADD3, VIADD or IMAD.IADD, a move MOV
// or IMAD.MOV. Rules name the alternatives.
#include <algorithm>
#include <cstdlib>

#include "probes/sass/rows.hpp"

namespace assay::scalar {
namespace {

using Signed = std::int32_t;

constexpr Values kOdd{.d0 = 1, .a = 3, .b = 5};
constexpr const char* kAdd = "IADD3|VIADD|IMAD.IADD";

Word add3(Word d, Word a, Word b) { return d + a + b; }

std::vector<InstructionRow> add_rows() {
  const std::string three = "add.u32 <d>, <d>, <a>; add.u32 <d>, <d>, <b>;";
  return {
      row("iadd3/s32", three, kWord, lanes<Word>(add3), one("IADD3"), kOdd),
      // Two operands and the complement: additions alone would be merged by threes.
      per_step("addition + LOP3",
               row("iadd3/s32_two", "add.u32 <d>, <d>, <a>; not.b32 <d>, <d>;", kWord,
                   lanes<Word>([](Word d, Word a, Word) { return ~(d + a); }),
                   each_of({{kAdd, 1}, {"LOP3", 1}}), kOdd)),
      row("iadd3/s32_subtract", "sub.u32 <d>, <a>, <d>; sub.u32 <d>, <d>, <b>;", kWord,
          lanes<Word>([](Word d, Word a, Word b) { return a - d - b; }), one("IADD3"), kOdd),
      row("iadd3/s32_immediate", "add.u32 <d>, <d>, <a>; add.u32 <d>, <d>, 12345;", kWord,
          lanes<Word>([](Word d, Word a, Word) { return d + a + 12345; }), one("IADD3"), kOdd),
      row("iadd3/s32_uniform", three, kWord, {uniform("a", kWord), named("b", kWord)},
          lanes<Word>(add3), one("IADD3"), kOdd),
      // The carry goes through a predicate.
      per_step("IADD3 + IADD3.X",
               row("iadd3/s32_carry", "add.cc.u32 <d>, <d>, <a>; addc.u32 <d>, <d>, <b>;", kWord,
                   lanes<Word>([](Word d, Word a, Word b) { return d + a + b + (d + a < d); }),
                   each_of({{"IADD3|IADD3.X|IMAD.X", 2}}), {.d0 = 1, .a = 0x90000001, .b = 5})),
      per_step("IADD3 + IADD3.X + 2 LOP3",
               row("iadd3/s64", "add.u64 <d>, <d>, <a>; xor.b64 <d>, <d>, <b>;", kDoubleWord,
                   lanes<Bits>([](Bits d, Bits a, Bits b) { return (d + a) ^ b; }),
                   by_feature(Feature::integers_64, each_of({{"IADD.64", 1}, {"LOP3", 2}}),
                              each_of({{"IADD3|IADD3.X|IMAD.X|IMAD.IADD", 2}, {"LOP3", 2}})),
                   {.d0 = 1, .a = 0x90000001, .b = 5}))};
}

std::vector<InstructionRow> multiply_rows() {
  const std::string mad = "mad.lo.u32 <d>, <d>, <a>, <b>;";
  const StepBits fused = lanes<Word>([](Word d, Word a, Word b) { return d * a + b; });
  constexpr Values kLarge{.d0 = 0x7fff1234, .a = 0xfffffff0, .b = 0x1234567};
  return {
      row("imad/s32", mad, kWord, fused, one("IMAD"), kOdd),
      row("imad/s32_immediate", "mad.lo.u32 <d>, <d>, 12345, <a>;", kWord,
          lanes<Word>([](Word d, Word a, Word) { return d * 12345 + a; }), one("IMAD"), kOdd),
      row("imad/s32_accumulate", "mad.lo.u32 <d>, <a>, <b>, <d>;", kWord,
          lanes<Word>([](Word d, Word a, Word b) { return a * b + d; }), one("IMAD"), kOdd),
      row("imad/s32_uniform", mad, kWord, {uniform("a", kWord), named("b", kWord)}, fused,
          one("IMAD"), kOdd),
      row("imad/hi_u32", "mad.hi.u32 <d>, <d>, <a>, <b>;", kWord,
          lanes<Word>(
              [](Word d, Word a, Word b) { return static_cast<Word>(Bits{d} * a >> 32) + b; }),
          one("IMAD.HI.U32"), kLarge),
      row("imad/hi_s32", "mad.hi.s32 <d>, <d>, <a>, <b>;", kWord,
          lanes<Signed>([](Signed d, Signed a, Signed b) {
            return static_cast<Signed>(static_cast<Word>(std::int64_t{d} * a >> 32) +
                                       static_cast<Word>(b));
          }),
          one("IMAD.HI"), {.d0 = 0x7fff1234, .a = 0x7ffffff0, .b = 0x1234567}),
      row("imad/wide_u32",
          "{ .reg .b32 %low, %high; mov.b64 {%low, %high}, <d>; mul.wide.u32 <d>, %high, <a>; }",
          kDoubleWord, {named("a", kWord)}, [](Bits d, Bits a, Bits, int) { return (d >> 32) * a; },
          one("IMAD.WIDE.U32"), {.d0 = 0x7fff1234, .a = 0xfffffff0}),
      row("imad/wide_s32",
          "{ .reg .b32 %low, %high; mov.b64 {%low, %high}, <d>; mul.wide.s32 <d>, %high, <a>; }",
          kDoubleWord, {named("a", kWord)},
          [](Bits d, Bits a, Bits, int) {
            return static_cast<Bits>(static_cast<std::int64_t>(d) >> 32) *
                   static_cast<Bits>(std::int64_t{static_cast<Signed>(static_cast<Word>(a))});
          },
          one("IMAD.WIDE"), {.d0 = 0x7fff1234, .a = 0x7ffffff0}),
      per_step("2 IMAD + IMAD.WIDE + IADD3",
               row("imad/s64", "mad.lo.u64 <d>, <d>, <a>, <b>;", kDoubleWord,
                   lanes<Bits>([](Bits d, Bits a, Bits b) { return d * a + b; }),
                   each_of({{"IMAD", 3}}), kOdd)),
      per_step("4 IMAD.WIDE + additions",
               row("imad/hi_u64", "mul.hi.u64 <d>, <d>, <a>;", kDoubleWord,
                   lanes<Bits>([](Bits d, Bits a, Bits) {
                     return static_cast<Bits>(static_cast<unsigned __int128>(d) * a >> 64);
                   }),
                   each_of({{"IMAD.WIDE.U32", 4}}), {.d0 = 0xfffffff0, .a = 0xfffffff0})),
      per_step("PRMT + IMAD", row("imad/u24", "mul24.lo.u32 <d>, <d>, <a>;", kWord,
                                  lanes<Word>([](Word d, Word a, Word) {
                                    return (d & 0xffffff) * (a & 0xffffff);
                                  }),
                                  one("IMAD"), {.d0 = 0x123457, .a = 0x654321})),
      per_step("IMAD.SHL or SHF + LOP3",
               row("imad/shift_left", "shl.b32 <d>, <d>, 3; xor.b32 <d>, <d>, <a>;", kWord,
                   lanes<Word>([](Word d, Word a, Word) { return d << 3 ^ a; }),
                   each_of({{"IMAD.SHL|SHF.L.U32", 1}, {"LOP3", 1}}), kOdd)),
      per_step("IMAD.MOV or IADD3 + LOP3",
               row("imad/negate", "neg.s32 <d>, <d>; xor.b32 <d>, <d>, <a>;", kWord,
                   lanes<Word>([](Word d, Word a, Word) { return (0 - d) ^ a; }),
                   each_of({{"IMAD.MOV|IADD3", 1}, {"LOP3", 1}}), kOdd))};
}

std::vector<InstructionRow> address_rows() {
  return {per_step("LEA + LEA.HI.X",
                   row("lea/s64", "{ .reg .b64 %t; shl.b64 %t, <d>, 2; add.u64 <d>, <a>, %t; }",
                       kDoubleWord, lanes<Bits>([](Bits d, Bits a, Bits) { return a + (d << 2); }),
                       each_of({{"LEA", 2}, {"LEA.HI.X", 1}}), kOdd))};
}

std::vector<InstructionRow> absolute_rows() {
  return {
      per_step("IABS + LOP3",
               row("iabs/s32", "abs.s32 <d>, <d>; not.b32 <d>, <d>;", kWord,
                   lanes<Signed>([](Signed d, Signed, Signed) { return ~std::abs(d); }),
                   each_of({{"IABS", 1}, {"LOP3", 1}}), {.d0 = 7})),
      row("vabsdiff/u32", "sad.u32 <d>, <d>, <a>, <b>;", kWord,
          lanes<Word>([](Word d, Word a, Word b) { return (d > a ? d - a : a - d) + b; }),
          by_feature(Feature::vabsdiff, one("VABSDIFF.U32"),
                     each_of({{"VIMNMX.U32", 2}, {"IADD3", 1}})),
          {.d0 = 7, .a = 100, .b = 5}),
      row("vabsdiff/s32", "sad.s32 <d>, <d>, <a>, <b>;", kWord,
          lanes<Signed>([](Signed d, Signed a, Signed b) {
            return static_cast<Signed>((d > a ? static_cast<Word>(d) - static_cast<Word>(a)
                                              : static_cast<Word>(a) - static_cast<Word>(d)) +
                                       static_cast<Word>(b));
          }),
          by_feature(Feature::vabsdiff, one("VABSDIFF"),
                     each_of({{"VIMNMX.S32", 2}, {"IADD3", 1}})),
          {.d0 = 7, .a = 100, .b = 5}),
      // |d - a| of four bytes, summed and added to b; elsewhere there are other byte instructions.
      row("vabsdiff4/u8", "vabsdiff4.u32.u32.u32.add <d>, <d>, <a>, <b>;", kWord,
          lanes<Word>([](Word d, Word a, Word b) {
            for (int at = 0; at < 32; at += 8)
              b += static_cast<Word>(
                  std::abs(static_cast<int>(d >> at & 255) - static_cast<int>(a >> at & 255)));
            return b;
          }),
          by_feature(Feature::vabsdiff, one("VABSDIFF4.U8"),
                     each_of({{"VIMNMX.U8x4", 2}, {"VIADD.U8x4", 1}, {"IDP", 1}})),
          {.d0 = 0x01020304, .a = 0x55667788, .b = 0x01010101})};
}

std::vector<InstructionRow> compare_rows() {
  const std::vector<Operand> operands = {named("a", kWord), named("b", kWord)};
  const auto flip = [](Bits d, Bits, Bits, int) { return Bits{d == 0}; };
  constexpr Values kLess{.d0 = 0, .a = 3, .b = 5};
  return {
      // A predicate is the chain: it goes in as the second operand of the xor.
      row("isetp/s32", "setp.lt.xor.s32 <d>, <a>, <b>, <d>;", kPredicate, operands, flip,
          one("ISETP.LT.XOR"), kLess),
      row(
          "isetp/u32_and", "setp.lt.and.u32 <d>, <a>, <b>, <d>;", kPredicate, operands,
          [](Bits d, Bits, Bits, int) { return Bits{d != 0}; }, one("ISETP.LT.U32.AND"), kLess),
      per_step("ISETP + SEL",
               row("isetp/s32_select",
                   "{ .reg .pred %p; setp.lt.s32 %p, <d>, <a>; selp.b32 <d>, <b>, <d>, %p; }",
                   kWord, lanes<Signed>([](Signed d, Signed a, Signed b) { return d < a ? b : d; }),
                   each_of({{"ISETP.GE", 1}, {"SEL", 1}}), {.d0 = 2, .a = 4, .b = 1})),
      row("sel/b32", "selp.b32 <d>, <d>, <a>, <p>;", kWord,
          {named("a", kWord), named("p", kPredicate)},
          lanes<Word>([](Word d, Word, Word) { return d; }), one("SEL"), {.b = 1}),
      row("sel/b64", "selp.b64 <d>, <d>, <a>, <p>;", kDoubleWord,
          {named("a", kDoubleWord), named("p", kPredicate)},
          lanes<Bits>([](Bits d, Bits, Bits) { return d; }),
          by_feature(Feature::integers_64, one("SEL.64"), each_of({{"SEL", 2}})), {.b = 1})};
}

// Opcodes of minimum and maximum: IMNMX became VIMNMX.
Sass clamp_opcode(const std::string& suffix) {
  const Sass typed = each_of({{"VIMNMX" + (suffix.empty() ? ".S32" : suffix), 2}});
  const Sass untyped = each_of({{"VIMNMX" + suffix, 2}});
  return by_feature(Feature::vimnmx, by_feature(Feature::typed_vimnmx, typed, untyped),
                    each_of({{"IMNMX" + suffix, 2}}));
}

template <class T>
T clamp(T d, T a, T b) {
  return std::min(std::max(d, a), b);
}

std::vector<InstructionRow> minimum_rows() {
  const auto form = [](const std::string& type, StepBits step, Sass sass) {
    return in_a_row(
        2, row("vimnmx/" + type, "max." + type + " <d>, <d>, <a>; min." + type + " <d>, <d>, <b>;",
               kWord, std::move(step), std::move(sass), {.d0 = 1, .a = 2, .b = 4}));
  };
  return joined(
      {{form("s32", lanes<Signed>(clamp), clamp_opcode("")),
        form("u32", lanes<Word>(clamp), clamp_opcode(".U32"))},
       only_with(Feature::integer_pairs,
                 {form("s16x2", lanes<std::int16_t>(clamp), each_of({{"VIMNMX.S16x2", 2}})),
                  form("u16x2", lanes<std::uint16_t>(clamp), each_of({{"VIMNMX.U16x2", 2}}))}),
       only_with(Feature::integer_pairs,
                 {row("viadd/s16x2", "add.s16x2 <d>, <d>, <a>;", kWord,
                      lanes<std::uint16_t>([](std::uint16_t d, std::uint16_t a, std::uint16_t) {
                        return static_cast<std::uint16_t>(d + a);
                      }),
                      one("VIADD.16x2"), {.d0 = 0x10001, .a = 0x70003}),
                  row("viadd/u16x2", "add.u16x2 <d>, <d>, <a>;", kWord,
                      lanes<std::uint16_t>([](std::uint16_t d, std::uint16_t a, std::uint16_t) {
                        return static_cast<std::uint16_t>(d + a);
                      }),
                      one("VIADD.16x2"), {.d0 = 0x10001, .a = 0x70003})})});
}

}  // namespace

std::vector<InstructionRow> integer_rows() {
  return joined({add_rows(), multiply_rows(), address_rows(), absolute_rows(), compare_rows(),
                 minimum_rows()});
}

}  // namespace assay::scalar

// SPDX-License-Identifier: Apache-2.0
// Bits: logic, shifts, permutation of bytes, counting, masks and sign extension.
#include <algorithm>
#include <bit>

#include "probes/sass/rows.hpp"

namespace assay::scalar {
namespace {

using Signed = std::int32_t;

constexpr Values kMasks{.d0 = 0x12345678, .a = 0x3333, .b = 0x5555};
constexpr Values kShift{.d0 = 0x12345678, .a = 0x3333, .b = 5};

Word mixed(Word d, Word a, Word b) { return b ^ (d & a); }

std::vector<InstructionRow> logic_rows() {
  const std::string lop3 = "lop3.b32 <d>, <d>, <a>, <b>, ";
  return {
      row("lop3/b32", lop3 + "0x6a;", kWord, lanes<Word>(mixed), one("LOP3"), kMasks),
      row("lop3/b32_majority", lop3 + "0xe8;", kWord,
          lanes<Word>([](Word d, Word a, Word b) { return (d & a) | (d & b) | (a & b); }),
          one("LOP3"), kMasks),
      row("lop3/b32_xor", lop3 + "0x96;", kWord,
          lanes<Word>([](Word d, Word a, Word b) { return d ^ a ^ b; }), one("LOP3"), kMasks),
      row("lop3/b32_immediate", "lop3.b32 <d>, <d>, 0x12345678, <a>, 0x6a;", kWord,
          lanes<Word>([](Word d, Word a, Word) { return a ^ (d & 0x12345678); }), one("LOP3"),
          kMasks),
      row("lop3/b32_uniform", lop3 + "0x6a;", kWord, {uniform("a", kWord), named("b", kWord)},
          lanes<Word>(mixed), one("LOP3"), kMasks),
      // Whether the result is not 0, or-ed to a predicate, which is the chain.
      row("lop3/b32_predicate", "{ .reg .b32 %t; lop3.or.b32 %t|<d>, <a>, <b>, <a>, 0x80, <d>; }",
          kPredicate, {named("a", kWord), named("b", kWord)},
          [](Bits d, Bits a, Bits b, int) { return Bits{(a & b) != 0 || d != 0}; }, one("LOP3"),
          {.d0 = 0, .a = 0x3330, .b = 0x4444})};
}

// Funnel shifts take the higher word second, and give the upper (l) or lower (r) word.
Word left(Word low, Word high, Word by) {
  return by == 0 ? high : by >= 32 ? low : high << by | low >> (32 - by);
}
Word right(Word low, Word high, Word by) {
  return by == 0 ? low : by >= 32 ? high : high << (32 - by) | low >> by;
}

std::vector<InstructionRow> shift_rows() {
  constexpr Values kFar{.d0 = 0x12345678, .a = 0x3333, .b = 37};
  return {
      row("shf/b32", "shf.l.wrap.b32 <d>, <d>, <a>, <b>;", kWord, lanes<Word>(left), one("SHF.L.W"),
          kShift),
      row("shf/l_clamp_b32", "shf.l.clamp.b32 <d>, <d>, <a>, <b>;", kWord, lanes<Word>(left),
          one("SHF.L"), kShift),
      row("shf/r_wrap_b32", "shf.r.wrap.b32 <d>, <d>, <a>, <b>;", kWord,
          lanes<Word>([](Word d, Word a, Word b) { return right(d, a, b & 31); }), one("SHF.R.W"),
          kFar),
      row("shf/r_clamp_b32", "shf.r.clamp.b32 <d>, <d>, <a>, <b>;", kWord, lanes<Word>(right),
          one("SHF.R"), kShift),
      row("shf/rotate_b32", "shf.l.wrap.b32 <d>, <d>, <d>, <a>;", kWord,
          lanes<Word>([](Word d, Word a, Word) { return std::rotl(d, static_cast<int>(a)); }),
          one("SHF.L.W"), {.d0 = 0x12345678, .a = 7}),
      row("shf/rotate_b32_immediate", "shf.l.wrap.b32 <d>, <d>, <d>, 7;", kWord,
          lanes<Word>([](Word d, Word, Word) { return std::rotl(d, 7); }), one("SHF.L.W"),
          {.d0 = 0x12345678}),
      // A shift by 32 or more leaves 0, and the next shifts by 0.
      row("shf/left_b32", "shl.b32 <d>, <a>, <d>;", kWord,
          lanes<Word>([](Word d, Word a, Word) { return d >= 32 ? 0 : a << d; }), one("SHF.L.U32"),
          {.d0 = 1, .a = 3}),
      row("shf/right_u32", "shr.u32 <d>, <a>, <d>;", kWord,
          lanes<Word>([](Word d, Word a, Word) { return d >= 32 ? 0 : a >> d; }),
          one("SHF.R.U32.HI"), {.d0 = 1, .a = 0x12}),
      row("shf/right_s32", "shr.s32 <d>, <a>, <d>;", kWord, lanes<Word>([](Word d, Word a, Word) {
            return static_cast<Word>(static_cast<Signed>(a) >> (d >= 32 ? 31 : d));
          }),
          one("SHF.R.S32.HI"), {.d0 = 1, .a = 0x12}),
      per_step("SHF.L.U32 + SHF.L.U64.HI",
               row("shf/left_b64", "shl.b64 <d>, <d>, <a>;", kDoubleWord, {named("a", kWord)},
                   [](Bits d, Bits a, Bits, int) { return d << a; },
                   each_of({{"SHF.L.U32", 1}, {"SHF.L.U64.HI", 1}}), {.d0 = 1, .a = 1})),
      per_step("SHF.R.U64 + SHF.R.U32.HI",
               row("shf/right_u64", "shr.u64 <d>, <d>, <a>;", kDoubleWord, {named("a", kWord)},
                   [](Bits d, Bits a, Bits, int) { return d >> a; },
                   each_of({{"SHF.R.U64", 1}, {"SHF.R.U32.HI", 1}}), {.d0 = 0xfedcba98, .a = 1})),
      per_step("SHF.R.S64 + SHF.R.S32.HI",
               row("shf/right_s64", "shr.s64 <d>, <d>, <a>;", kDoubleWord, {named("a", kWord)},
                   [](Bits d, Bits a, Bits, int) {
                     return static_cast<Bits>(static_cast<std::int64_t>(d) >> a);
                   },
                   each_of({{"SHF.R.S64", 1}, {"SHF.R.S32.HI", 1}}), {.d0 = 0xfedcba98, .a = 1}))};
}

// Byte i of the result by selector nibble i (idx), or by where d's low bits point (the others).
Word idx(Word d, Word a, Word selector) {
  const Bits bytes = Bits{a} << 32 | d;
  Word result = 0;
  for (unsigned i = 0; i < 4; ++i)
    result |= static_cast<Word>(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
  return result;
}
Word pick(Word d, Word a, const Word (&selectors)[4], Word by) {
  return idx(d, a, selectors[by & 3]);
}

// Nibbles of the selectors as the PTX ISA's table of prmt modes has them.
std::vector<InstructionRow> permute_rows() {
  const auto mode = [](const char* name, const char* opcode, Word (*step)(Word, Word, Word)) {
    return row(std::string("prmt/") + name,
               std::string("prmt.b32.") + name + " <d>, <d>, <a>, <b>;", kWord, lanes<Word>(step),
               one(opcode), {.d0 = 0x12345678, .a = 0x9abcdef0, .b = 1});
  };
  return {row("prmt/b32", "prmt.b32 <d>, <d>, <a>, <b>;", kWord, lanes<Word>(idx), one("PRMT"),
              {.d0 = 0x12345678, .a = 0x33, .b = 0x4321}),
          row("prmt/b32_immediate", "prmt.b32 <d>, <d>, <a>, 0x4321;", kWord,
              lanes<Word>([](Word d, Word a, Word) { return idx(d, a, 0x4321); }), one("PRMT"),
              {.d0 = 0x12345678, .a = 0x33}),
          // The chain selects.
          row("prmt/b32_selector", "prmt.b32 <d>, <a>, <b>, <d>;", kWord,
              lanes<Word>([](Word d, Word a, Word b) { return idx(a, b, d); }), one("PRMT"),
              {.d0 = 0x1234, .a = 0x07060504, .b = 0x03020100}),
          mode("f4e", "PRMT.F4E",
               [](Word d, Word a, Word b) {
                 return pick(d, a, {0x3210, 0x4321, 0x5432, 0x6543}, b);
               }),
          mode("b4e", "PRMT.B4E",
               [](Word d, Word a, Word b) {
                 return pick(d, a, {0x5670, 0x6701, 0x7012, 0x0123}, b);
               }),
          mode("rc8", "PRMT.RC8",
               [](Word d, Word a, Word b) {
                 return pick(d, a, {0x0000, 0x1111, 0x2222, 0x3333}, b);
               }),
          mode("ecl", "PRMT.ECL",
               [](Word d, Word a, Word b) {
                 return pick(d, a, {0x3210, 0x3211, 0x3222, 0x3333}, b);
               }),
          mode("ecr", "PRMT.ECR",
               [](Word d, Word a, Word b) {
                 return pick(d, a, {0x0000, 0x1110, 0x2210, 0x3210}, b);
               }),
          mode("rc16", "PRMT.RC16", [](Word d, Word a, Word b) {
            return pick(d, a, {0x1010, 0x3232, 0x1010, 0x3232}, b);
          })};
}

Word highest(Word value) { return value ? 31 - static_cast<Word>(std::countl_zero(value)) : ~0u; }

std::vector<InstructionRow> count_rows() {
  return {row("popc/b32", "popc.b32 <d>, <d>;", kWord,
              lanes<Word>([](Word d, Word, Word) { return static_cast<Word>(std::popcount(d)); }),
              one("POPC"), {.d0 = 0xffff}),
          row("flo/u32", "bfind.u32 <d>, <d>;", kWord,
              lanes<Word>([](Word d, Word, Word) { return highest(d); }), one("FLO.U32"),
              {.d0 = 0xffff0000}),
          row("flo/s32", "bfind.s32 <d>, <d>;", kWord, lanes<Word>([](Word d, Word, Word) {
                return highest(static_cast<Signed>(d) < 0 ? ~d : d);
              }),
              one("FLO"), {.d0 = 0xfff0000}),
          row("flo/u32_shift", "bfind.shiftamt.u32 <d>, <d>;", kWord,
              lanes<Word>([](Word d, Word, Word) {
                return d ? static_cast<Word>(std::countl_zero(d)) : ~0u;
              }),
              one("FLO.U32.SH"), {.d0 = 0xffff}),
          per_step("FLO + addition",
                   row("flo/leading_zeros_b32", "clz.b32 <d>, <d>;", kWord,
                       lanes<Word>([](Word d, Word, Word) {
                         return static_cast<Word>(std::countl_zero(d));
                       }),
                       each_of({{"FLO.U32", 1}, {"IADD3|VIADD|IMAD.IADD", 1}}), {.d0 = 0xffff})),
          // Twice is not at all, which ptxas 13.0 does not see.
          row("brev/b32", "brev.b32 <d>, <d>;", kWord, lanes<Word>([](Word d, Word, Word) {
                Word reversed = 0;
                for (int i = 0; i < 32; ++i) reversed |= (d >> i & 1) << (31 - i);
                return reversed;
              }),
              one("BREV"), {.d0 = 0x12345678})};
}

Word ones(Word from, Word count) {
  return from >= 32 ? 0 : static_cast<Word>(((Bits{1} << std::min(count, 32u)) - 1) << from);
}
Word extended(Word value, Word bits) {
  if (bits == 0 || bits >= 32) return bits == 0 ? 0 : value;
  return static_cast<Word>(static_cast<Signed>(value << (32 - bits)) >> (32 - bits));
}

std::vector<InstructionRow> field_rows() {
  return {row("bmsk/clamp_b32", "bmsk.clamp.b32 <d>, <d>, <a>;", kWord,
              lanes<Word>([](Word d, Word a, Word) { return ones(d, a); }), one("BMSK"),
              {.d0 = 1, .a = 5}),
          row("bmsk/wrap_b32", "bmsk.wrap.b32 <d>, <d>, <a>;", kWord,
              lanes<Word>([](Word d, Word a, Word) { return ones(d & 31, a & 31); }), one("BMSK.W"),
              {.d0 = 1, .a = 5}),
          // The chain says how many bits count.
          row("sgxt/clamp_s32", "szext.clamp.s32 <d>, <a>, <d>;", kWord,
              lanes<Word>([](Word d, Word a, Word) { return extended(a, d); }), one("SGXT"),
              {.d0 = 3, .a = 0x2d5}),
          row("sgxt/wrap_u32", "szext.wrap.u32 <d>, <a>, <d>;", kWord,
              lanes<Word>([](Word d, Word a, Word) { return a & ((1u << (d & 31)) - 1); }),
              one("SGXT.W.U32"), {.d0 = 3, .a = 0x2d5}),
          per_step("LOP3 + SHF + SGXT",
                   row("sgxt/field_u32", "not.b32 <d>, <d>; bfe.u32 <d>, <d>, 3, 11;", kWord,
                       lanes<Word>([](Word d, Word, Word) { return ~d >> 3 & 0x7ff; }),
                       each_of({{"SHF.R.U32.HI", 1}, {"SGXT.U32", 1}}), {.d0 = 0x12345678})),
          per_step("shift + LOP3", row("lop3/insert_b32", "bfi.b32 <d>, <d>, <a>, 3, 11;", kWord,
                                       lanes<Word>([](Word d, Word a, Word) {
                                         return (a & ~(0x7ffu << 3)) | (d & 0x7ff) << 3;
                                       }),
                                       each_of({{"IMAD.SHL|SHF.L.U32", 1}, {"LOP3", 1}}), kMasks))};
}

}  // namespace

std::vector<InstructionRow> bit_rows() {
  return joined({logic_rows(), shift_rows(), permute_rows(), count_rows(), field_rows()});
}

}  // namespace assay::scalar

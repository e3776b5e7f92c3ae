// SPDX-License-Identifier: Apache-2.0
// Conversions between integers, FP64, FP32, and 16-bit floats.
//
// What converts from a type to another takes its own result's bits for the next operand where these
// are a number; where they would end at 0, an exclusive or (LOP3) or the other half of the register
// brings them back into range.
#include <algorithm>

#include "harness/element.hpp"
#include "probes/sass/rows.hpp"

namespace assay::scalar {
namespace {

using Signed = std::int32_t;

// d <- integer(d) ^ a, where a brings the integer's bits back to those of a float.
std::vector<InstructionRow> float_to_integer_rows() {
  // 2^23 + k is 0x4b000000 + k, and as an integer 0x800000 + k.
  constexpr double k23 = 8388608, kBack23 = 0x4b800000;
  const auto form = [](const std::string& name, const std::string& instruction,
                       const std::string& opcode, double d0, double a) {
    return per_step(opcode.substr(0, opcode.find('.')) + " + LOP3",
                    row("f2i/" + name, instruction + " <d>, <d>; xor.b32 <d>, <d>, <a>;",
                        kFloatWord, {named("a", kWord)}, lanes<Word>([](Word d, Word a, Word) {
                          return static_cast<Word>(static_cast<Signed>(std::bit_cast<float>(d))) ^
                                 a;
                        }),
                        each_of({{opcode, 1}, {"LOP3", 1}}), {.d0 = d0, .a = a}));
  };
  // Of a 16-bit float in the lower half.
  const auto from_half = [](const std::string& name, const std::string& type,
                            const std::string& element, const std::string& opcode, double d0,
                            double a) {
    return per_step("F2I + LOP3",
                    row("f2i/" + name,
                        "{ .reg .b16 %low, %high; mov.b32 {%low, %high}, <d>; cvt.rzi." + type +
                            " <d>, %low; xor.b32 <d>, <d>, <a>; }",
                        kWord, {named("a", kWord)},
                        [element](Bits d, Bits a, Bits, int) {
                          return static_cast<Bits>(unpack(element, d)) ^ a;
                        },
                        each_of({{opcode, 1}, {"LOP3", 1}}), {.d0 = d0, .a = a}));
  };
  const auto wide = [](const std::string& name, const std::string& type,
                       const std::string& opcode) {
    return per_step("F2I + LOP3",
                    row("f2i/" + name,
                        "{ .reg .b64 %t; .reg .b32 %high; cvt.rzi." + type +
                            ".f32 %t, <d>; mov.b64 {<d>, %high}, %t; xor.b32 <d>, <d>, <a>; }",
                        kFloatWord, {named("a", kWord)}, lanes<Word>([](Word d, Word a, Word) {
                          return static_cast<Word>(static_cast<Signed>(std::bit_cast<float>(d))) ^
                                 a;
                        }),
                        each_of({{opcode, 1}, {"LOP3", 1}}), {.d0 = k23, .a = kBack23}));
  };
  return joined(
      {{form("s32_f32", "cvt.rzi.s32.f32", "F2I.TRUNC", k23, kBack23),
        form("s32_f32_nearest", "cvt.rni.s32.f32", "F2I", k23, kBack23),
        form("s32_f32_floor_ftz", "cvt.rmi.ftz.s32.f32", "F2I.FTZ.FLOOR", k23, kBack23),
        form("u32_f32", "cvt.rzi.u32.f32", "F2I.U32.TRUNC", k23, kBack23),
        form("s16_f32", "cvt.rzi.s16.f32", "F2I.S16.TRUNC", 8192, 0x46002000),
        form("s8_f32", "cvt.rzi.s8.f32", "F2I.S8.TRUNC", 64, 0x42800040),
        form("u8_f32", "cvt.rzi.u8.f32", "F2IP.U8.F32", 128, 0x43000080),
        wide("s64_f32", "s64", "F2I.S64.TRUNC"), wide("u64_f32", "u64", "F2I.U64.TRUNC"),
        from_half("s32_f16", "s32.f16", "f16", "F2I.F16.TRUNC", 0x6400, 0x6000),
        from_half("u32_f16", "u32.f16", "f16", "F2I.U32.F16.TRUNC", 0x6400, 0x6000)},
       only_with(Feature::bf16_arithmetic,
                 {from_half("s32_bf16", "s32.bf16", "bf16", "F2I.BF16.TRUNC", 0x4300, 0x4380)})});
}

std::vector<InstructionRow> double_to_integer_rows() {
  const auto wide = [](const std::string& name, const std::string& type,
                       const std::string& opcode) {
    // 2^52 + k is 0x4330... + k, and as an integer 0x0010... + k; a is 0x4320..., as FP64 2^51.
    return per_step("F2I + 2 LOP3",
                    row("f2i/" + name, "cvt.rzi." + type + ".f64 <d>, <d>; xor.b64 <d>, <d>, <a>;",
                        kF64Bits, lanes<Bits>([](Bits d, Bits a, Bits) {
                          return static_cast<Bits>(std::bit_cast<double>(d)) ^ a;
                        }),
                        each_of({{opcode, 1}, {"LOP3", 2}}),
                        {.d0 = 4503599627370496.0, .a = 2251799813685248.0}));
  };
  const auto narrow = [](const std::string& name, const std::string& type,
                         const std::string& opcode) {
    // a is the upper word of numbers just above 65536.
    return row("f2i/" + name,
               "{ .reg .b32 %t; cvt.rzi." + type + ".f64 %t, <d>; mov.b64 <d>, {%t, <a>}; }",
               kF64Bits, {named("a", kWord)},
               [](Bits d, Bits a, Bits, int) {
                 return a << 32 | static_cast<Word>(std::bit_cast<double>(d));
               },
               one(opcode), {.d0 = 70000, .a = 0x40f00000});
  };
  return {narrow("s32_f64", "s32", "F2I.F64.TRUNC"), narrow("u32_f64", "u32", "F2I.U32.F64.TRUNC"),
          wide("s64_f64", "s64", "F2I.S64.F64"), wide("u64_f64", "u64", "F2I.U64.F64")};
}

template <class From>
Word to_float(Word d, Word, Word) {
  return std::bit_cast<Word>(static_cast<float>(static_cast<From>(d)));
}
template <class From>
Bits to_double(Bits d, Bits, Bits) {
  return std::bit_cast<Bits>(static_cast<double>(static_cast<From>(d)));
}
// Of the upper word, so that the result's upper word comes next.
template <class From>
Bits upper_to_double(Bits d, Bits, Bits) {
  return std::bit_cast<Bits>(static_cast<double>(static_cast<From>(static_cast<Word>(d >> 32))));
}

std::vector<InstructionRow> integer_to_float_rows() {
  const auto upper = [](const std::string& name, const std::string& type, const std::string& opcode,
                        Bits (*step)(Bits, Bits, Bits)) {
    return row("i2f/" + name,
               "{ .reg .b32 %low, %high; mov.b64 {%low, %high}, <d>; cvt.rn.f64." + type +
                   " <d>, %high; }",
               kDoubleWord, lanes<Bits>(step), one(opcode), {.d0 = 1000});
  };
  // a is the upper word of the integer.
  const auto from_wide = [](const std::string& name, const std::string& type,
                            const std::string& opcode) {
    return row(
        "i2f/" + name, "{ .reg .b64 %t; mov.b64 %t, {<d>, <a>}; cvt.rn.f32." + type + " <d>, %t; }",
        kWord,
        [](Bits d, Bits a, Bits, int) {
          const Bits integer = a << 32 | static_cast<Word>(d);
          return Bits{std::bit_cast<Word>(static_cast<float>(static_cast<std::int64_t>(integer)))};
        },
        one(opcode), {.d0 = 1000, .a = 3});
  };
  const auto from_byte = [](const std::string& name, const std::string& type,
                            const std::string& opcode, Word (*step)(Word, Word, Word)) {
    return per_step(
        "I2F + LOP3",
        row("i2f/" + name, "cvt.rn.f32." + type + " <d>, <d>; xor.b32 <d>, <d>, <a>;", kWord,
            lanes<Word>(step), each_of({{opcode, 1}, {"LOP3", 1}}), {.d0 = 100, .a = 0x85}));
  };
  return {
      row("i2fp/f32_s32", "cvt.rn.f32.s32 <d>, <d>;", kWord, lanes<Word>(to_float<Signed>),
          one("I2FP.F32.S32"), {.d0 = 1000}),
      row("i2fp/f32_u32", "cvt.rn.f32.u32 <d>, <d>;", kWord, lanes<Word>(to_float<Word>),
          one("I2FP.F32.U32"), {.d0 = 1000}),
      row("i2fp/f32_s32_rz", "cvt.rz.f32.s32 <d>, <d>;", kWord, lanes<Word>([](Word d, Word, Word) {
            return std::bit_cast<Word>(toward_zero(static_cast<Signed>(d)));
          }),
          one("I2FP.F32.S32.RZ"), {.d0 = 1000}),
      row("i2f/f32_s16",
          "{ .reg .b16 %low, %high; mov.b32 {%low, %high}, <d>; cvt.rn.f32.s16 <d>, %high; }",
          kWord, lanes<Word>([](Word d, Word, Word) {
            return std::bit_cast<Word>(static_cast<float>(static_cast<std::int16_t>(d >> 16)));
          }),
          one("I2F.S16"), {.d0 = 0x12340000}),
      from_byte("f32_s8", "s8", "I2F.S8",
                [](Word d, Word a, Word) { return to_float<std::int8_t>(d, 0, 0) ^ a; }),
      from_byte("f32_u8", "u8", "I2F.U8",
                [](Word d, Word a, Word) { return to_float<std::uint8_t>(d, 0, 0) ^ a; }),
      from_wide("f32_s64", "s64", "I2F.S64"),
      from_wide("f32_u64", "u64", "I2F.U64"),
      upper("f64_s32", "s32", "I2F.F64", upper_to_double<Signed>),
      upper("f64_u32", "u32", "I2F.F64.U32", upper_to_double<Word>),
      row("i2f/f64_s64", "cvt.rn.f64.s64 <d>, <d>;", kDoubleWord,
          lanes<Bits>(to_double<std::int64_t>), one("I2F.F64.S64"), {.d0 = 1000}),
      row("i2f/f64_u64", "cvt.rn.f64.u64 <d>, <d>;", kDoubleWord, lanes<Bits>(to_double<Bits>),
          one("I2F.F64.U64"), {.d0 = 1000}),
      row("i2f/f16_s16", "cvt.rn.f16.s16 <d>, <d>;", kHalfWord,
          [](Bits d, Bits, Bits, int) { return pack("f16", 16, static_cast<std::int16_t>(d)); },
          one("I2F.F16.S16"), {.d0 = 1000}),
      row("i2f/f16_u16", "cvt.rn.f16.u16 <d>, <d>;", kHalfWord,
          [](Bits d, Bits, Bits, int) { return pack("f16", 16, static_cast<std::uint16_t>(d)); },
          one("I2F.F16.U16"), {.d0 = 1000})};
}

std::vector<InstructionRow> half_from_integer_rows() {
  const auto form = [](const std::string& name, const std::string& element, const std::string& type,
                       const std::string& opcode) {
    return per_step("I2F + PRMT", row("i2f/" + name,
                                      "{ .reg .b16 %t; cvt.rn." + element + "." + type +
                                          " %t, <d>; mov.b32 <d>, {%t, <a>}; }",
                                      kWord, {named("a", kHalfWord)},
                                      [element](Bits d, Bits a, Bits, int) {
                                        return a << 16 | pack(element, 16, static_cast<Word>(d));
                                      },
                                      each_of({{opcode, 1}, {"PRMT", 1}}), {.d0 = 1000, .a = 0}));
  };
  return joined(
      {{form("f16_s32", "f16", "s32", "I2F.F16"), form("f16_u32", "f16", "u32", "I2F.F16.U32")},
       only_with(Feature::bf16_arithmetic, {form("bf16_s32", "bf16", "s32", "I2F.BF16")})});
}

std::vector<InstructionRow> float_to_float_rows() {
  // The upper word of numbers just above 1.5.
  constexpr Values kUpper{.d0 = 1.75, .a = 0x3ff80000};
  return {
      row(
          "f2f/f32_f64", "{ .reg .b32 %t; cvt.rn.f32.f64 %t, <d>; mov.b64 <d>, {%t, <a>}; }",
          kF64Bits, {named("a", kWord)},
          [](Bits d, Bits a, Bits, int) {
            return a << 32 | std::bit_cast<Word>(static_cast<float>(std::bit_cast<double>(d)));
          },
          one("F2F.F32.F64"), kUpper),
      // Of the upper word.
      row("f2f/f64_f32",
          "{ .reg .b32 %low, %high; mov.b64 {%low, %high}, <d>; cvt.f64.f32 <d>, %high; }",
          kF64Bits, lanes<Bits>([](Bits d, Bits, Bits) {
            return std::bit_cast<Bits>(double{std::bit_cast<float>(static_cast<Word>(d >> 32))});
          }),
          one("F2F.F64.F32"), {.d0 = 1.75}),
      per_step("F2F + PRMT + moves",
               row(
                   "f2f/f16_f64",
                   "{ .reg .b16 %t; .reg .b32 %twice; cvt.rn.f16.f64 %t, <d>; "
                   "mov.b32 %twice, {%t, %t}; mov.b64 <d>, {%twice, <a>}; }",
                   kF64Bits, {named("a", kWord)},
                   [](Bits d, Bits a, Bits, int) {
                     return a << 32 | pack("f16", 32, std::bit_cast<double>(d));
                   },
                   one("F2F.F16.F64"), kUpper)),
      per_step(
          "F2F + moves",
          row("f2f/f64_f16",
              "{ .reg .b32 %low, %high; .reg .b16 %x, %y; mov.b64 {%low, %high}, <d>; "
              "mov.b32 {%x, %y}, %high; cvt.f64.f16 <d>, %y; }",
              kF64Bits,
              [](Bits d, Bits, Bits, int) { return std::bit_cast<Bits>(unpack("f16", d >> 48)); },
              one("F2F.F64.F16"), {.d0 = 1.75})),
      row("fadd/f32_f32_ftz", "cvt.ftz.f32.f32 <d>, <d>;", kF32,
          lanes<float>([](float d, float, float) { return d; }), one("FADD.FTZ")),
      // f16 to f32 is an addition of nothing.
      row("hadd2/f32_f16",
          "{ .reg .b16 %low, %high; mov.b32 {%low, %high}, <d>; cvt.f32.f16 <d>, %high; }",
          kFloatWord,
          [](Bits d, Bits, Bits, int) { return pack("f32", 32, unpack("f16", d >> 16)); },
          one("HADD2.F32"), {.d0 = 1.5})};
}

// Integers that saturate; several of them to one register.
std::vector<InstructionRow> integer_rows_of_pieces() {
  const auto saturate = [](const std::string& name, const std::string& opcode,
                           Word (*step)(Word, Word, Word)) {
    return per_step("I2I + LOP3", row("i2i/" + name,
                                      "cvt.sat." + name.substr(0, name.find('_')) +
                                          ".s32 <d>, <d>; xor.b32 <d>, <d>, <a>;",
                                      kWord, lanes<Word>(step), each_of({{opcode, 1}, {"LOP3", 1}}),
                                      {.d0 = 5, .a = 0x12345}));
  };
  // What was in <d> moves up by two pieces of `bits`; <a> and <d> are cut to the range below them.
  const auto packed = [](const std::string& name, const std::string& ptx, int bits, bool is_signed,
                         const std::string& opcode) {
    return row("i2ip/" + name, ptx, kWord,
               [bits, is_signed](Bits d, Bits a, Bits b, int) {
                 const std::int64_t top = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
                 const std::int64_t bottom = is_signed ? -top - 1 : 0;
                 const auto cut = [&](Bits value) {
                   const auto number = std::int64_t{static_cast<Signed>(static_cast<Word>(value))};
                   return static_cast<Bits>(std::clamp(number, bottom, top)) &
                          ((Bits{1} << bits) - 1);
                 };
                 return (bits < 16 ? b << 2 * bits : 0) | cut(d) << bits | cut(a);
               },
               one(opcode), {.d0 = 5, .a = 0x77, .b = 0x3355});
  };
  const std::string four = " <d>, <d>, <a>, <b>;";
  return {saturate("u8_s32", "I2I.U8.S32.SAT",
                   [](Word d, Word a, Word) {
                     return static_cast<Word>(std::clamp(static_cast<Signed>(d), 0, 255)) ^ a;
                   }),
          saturate("u16_s32", "I2I.U16.S32.SAT",
                   [](Word d, Word a, Word) {
                     return static_cast<Word>(std::clamp(static_cast<Signed>(d), 0, 65535)) ^ a;
                   }),
          packed("s16_s32", "cvt.pack.sat.s16.s32 <d>, <d>, <a>;", 16, true, "I2IP.S16.S32.SAT"),
          packed("u16_s32", "cvt.pack.sat.u16.s32 <d>, <d>, <a>;", 16, false, "I2IP.U16.S32.SAT"),
          packed("s8_s32", "cvt.pack.sat.s8.s32.b32" + four, 8, true, "I2IP.S8.S32.SAT"),
          packed("u8_s32", "cvt.pack.sat.u8.s32.b32" + four, 8, false, "I2IP.U8.S32.SAT"),
          packed("s4_s32", "cvt.pack.sat.s4.s32.b32" + four, 4, true, "I2IP.S4.S32.SAT"),
          packed("u4_s32", "cvt.pack.sat.u4.s32.b32" + four, 4, false, "I2IP.U4.S32.SAT"),
          packed("u2_s32", "cvt.pack.sat.u2.s32.b32" + four, 2, false, "I2IP.U2.S32.SAT")};
}

}  // namespace

std::vector<InstructionRow> conversion_rows() {
  return joined({float_to_integer_rows(), double_to_integer_rows(), integer_to_float_rows(),
                 half_from_integer_rows(), float_to_float_rows(), integer_rows_of_pieces()});
}

}  // namespace assay::scalar

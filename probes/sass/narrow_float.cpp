// SPDX-License-Identifier: Apache-2.0
// Conversions to and from pairs and fours of 16-, 8-, 6- and 4-bit floats: all of them F2FP.
//
// The chain goes through the lower element: for the next conversion the result is the lower part of
// an operand whose upper part, a constant, keeps it near 1. Results of 8 and 16 bits are put there
// by a PRMT; what has too few bits to go on with gets others by an exclusive or (LOP3).
#include <cmath>

#include "harness/element.hpp"
#include "probes/sass/rows.hpp"

namespace assay::scalar {
namespace {

using Round = Bits (*)(const std::string& type, double value);

Bits mask_of(const std::string& type) { return (Bits{1} << element_bits(type)) - 1; }

Bits nearest(const std::string& type, double value) {
  return pack(type, 64, value) & mask_of(type);
}

// Formats are sign and magnitude: the next smaller magnitude is one less.
Bits truncated(const std::string& type, double value) {
  const Bits bits = nearest(type, value);
  return std::abs(unpack(type, bits)) > std::abs(value) ? bits - 1 : bits;
}

// Powers of two by their exponent: f32's or bf16's, and one more where there is a fraction.
Bits exponent(const std::string&, double value) {
  return static_cast<Bits>(std::ilogb(value) + 127);
}
Bits exponent_above(const std::string&, double value) {
  return static_cast<Bits>(std::ilogb(value) + 127 + (std::exp2(std::ilogb(value)) < value));
}

// d <- {type(a), type(d)}, two 16-bit elements.
InstructionRow pair_of_halves(const std::string& name, const std::string& modifiers,
                              const std::string& type, const std::string& opcode,
                              Round round = nearest) {
  return row("f2fp/" + name, "cvt." + modifiers + "." + type + "x2.f32 <d>, <a>, <d>;", kFloatWord,
             [type, round](Bits d, Bits a, Bits, int) {
               return round(type, unpack("f32", a)) << 16 | round(type, unpack("f32", d));
             },
             one(opcode), {.d0 = 1.2, .a = 1.5});
}

std::vector<InstructionRow> sixteen_bit_rows() {
  const auto tf32 = [](const std::string& name, const std::string& modifier,
                       const std::string& opcode, Round round) {
    return row("f2fp/" + name, "cvt." + modifier + ".tf32.f32 <d>, <d>;", kFloatWord,
               [round](Bits d, Bits, Bits, int) { return round("tf32", unpack("f32", d)); },
               one(opcode), {.d0 = 1.2});
  };
  const auto cut = [](const std::string&, double value) {
    return pack("f32", 32, value) & ~Bits{0x1fff};
  };
  return joined(
      {{pair_of_halves("f16x2_f32", "rn", "f16", "F2FP.F16.F32.PACK_AB"),
        pair_of_halves("f16x2_f32_rz", "rz", "f16", "F2FP.F16.F32.PACK_AB.RZ", truncated),
        pair_of_halves("f16x2_f32_relu", "rn.relu", "f16", "F2FP.RELU.F16.F32.PACK_AB"),
        pair_of_halves("f16x2_f32_satfinite", "rn.satfinite", "f16",
                       "F2FP.SATFINITE.F16.F32.PACK_AB"),
        pair_of_halves("bf16x2_f32", "rn", "bf16", "F2FP.BF16.F32.PACK_AB"),
        pair_of_halves("bf16x2_f32_rz", "rz", "bf16", "F2FP.BF16.F32.PACK_AB.RZ", truncated),
        pair_of_halves("bf16x2_f32_relu", "rn.relu", "bf16", "F2FP.RELU.BF16.F32.PACK_AB"),
        // Ties away from zero: no chip has it.
        per_step("FSETP + addition + LOP3",
                 row("lop3/tf32_f32_rna", "cvt.rna.tf32.f32 <d>, <d>;", kFloatWord,
                     [](Bits d, Bits, Bits, int) { return (d + 0x1000) & ~Bits{0x1fff}; },
                     each_of({{"FSETP", 1}, {"LOP3", 1}}), {.d0 = 1.2}))},
       only_with(Feature::tf32_conversions,
                 {tf32("tf32_f32", "rn", "F2FP.TF32.F32.PACK_B", nearest),
                  tf32("tf32_f32_rz", "rz", "F2FP.TF32.F32.PACK_B.RZ", cut),
                  tf32("tf32_f32_relu", "rn.relu", "F2FP.RELU.TF32.F32.PACK_B", nearest)})});
}

// "e4m3x2", and how the opcode calls it.
struct Narrow {
  std::string type, opcode;
};

Operand constant(const char* name, double bits) {
  Operand operand = named(name, kHalfWord);
  operand.fixed = bits;
  return operand;
}

// d <- {c, {type(a), type(d)}}: two 8-bit elements below a constant.
InstructionRow from_f32(const Narrow& to, const std::string& suffix, const std::string& modifiers,
                        const std::string& opcode, Round round = nearest) {
  return per_step("F2FP + PRMT", row("f2fp/" + to.type + "x2_f32" + suffix,
                                     "{ .reg .b16 %t; cvt." + modifiers + "." + to.type +
                                         "x2.f32 %t, <a>, <d>; mov.b32 <d>, {%t, <c>}; }",
                                     kFloatWord, {named("a", kF32), constant("c", 0x3f80)},
                                     [type = to.type, round](Bits d, Bits a, Bits c, int) {
                                       return c << 16 | round(type, unpack("f32", a)) << 8 |
                                              round(type, unpack("f32", d));
                                     },
                                     each_of({{opcode, 1}, {"PRMT", 1}}), {.d0 = 1.2, .a = 1.5}));
}

// The same of two 16-bit elements, the upper of which is the constant.
InstructionRow from_pair(const Narrow& to, const std::string& from, const std::string& suffix,
                         const std::string& modifiers, const std::string& opcode, double upper,
                         Round round = nearest) {
  return per_step("F2FP + PRMT", row("f2fp/" + to.type + "x2_" + from + "x2" + suffix,
                                     "{ .reg .b16 %t; cvt." + modifiers + "." + to.type + "x2." +
                                         from + "x2 %t, <d>; mov.b32 <d>, {%t, <c>}; }",
                                     Operand{"d", "b32", from}, {constant("c", upper)},
                                     [type = to.type, from, round](Bits d, Bits c, Bits, int) {
                                       return c << 16 | round(type, unpack(from, d >> 16)) << 8 |
                                              round(type, unpack(from, d));
                                     },
                                     each_of({{opcode, 1}, {"PRMT", 1}}), {.d0 = 1}));
}

// d <- two 16-bit elements of the lower two bytes, whose bits are then changed by a.
InstructionRow to_pair(const Narrow& from, const std::string& to, const std::string& suffix,
                       const std::string& modifiers, const std::string& opcode) {
  return per_step("F2FP + LOP3",
                  row("f2fp/" + to + "x2_" + from.type + "x2" + suffix,
                      "{ .reg .b16 %low, %high; mov.b32 {%low, %high}, <d>; cvt." + modifiers +
                          "." + to + "x2." + from.type + "x2 <d>, %low; xor.b32 <d>, <d>, <a>; }",
                      kWord,
                      [type = from.type, to, relu = suffix == "_relu"](Bits d, Bits a, Bits, int) {
                        const auto half = [&](Bits byte) {
                          const double value = unpack(type, byte);
                          return relu && std::signbit(value) ? Bits{0} : nearest(to, value);
                        };
                        return (half(d >> 8) << 16 | half(d)) ^ a;
                      },
                      each_of({{opcode, 1}, {"LOP3", 1}}), {.d0 = 0x1112, .a = 0x1215}));
}

std::vector<InstructionRow> eight_bit_rows() {
  std::vector<InstructionRow> all;
  for (const Narrow& type : {Narrow{"e4m3", "E4M3"}, Narrow{"e5m2", "E5M2"}}) {
    const std::string pack = "." + type.opcode + ".F32.PACK_AB_MERGE_C";
    all.push_back(from_f32(type, "", "rn.satfinite", "F2FP.SATFINITE" + pack));
    all.push_back(from_f32(type, "_relu", "rn.satfinite.relu", "F2FP.SATFINITE.RELU" + pack));
    all.push_back(from_pair(type, "f16", "", "rn.satfinite",
                            "F2FP.SATFINITE." + type.opcode + ".F16.UNPACK_B_MERGE_C", 0x3c00));
    all.push_back(to_pair(type, "f16", "", "rn", "F2FP.F16." + type.opcode + ".UNPACK_B"));
    all.push_back(
        to_pair(type, "f16", "_relu", "rn.relu", "F2FP.RELU.F16." + type.opcode + ".UNPACK_B"));
  }
  return all;
}

// e2m1 fills one byte with two elements, and below it three others that are those of a.
InstructionRow e2m1_row(const std::string& suffix, const std::string& modifiers,
                        const std::string& opcode) {
  return per_step(
      "F2FP + 2 PRMT",
      row("f2fp/e2m1x2_f32" + suffix,
          "{ .reg .b8 %upper, %pair; mov.b32 {%pair, %pair, %pair, %upper}, <a>; cvt." + modifiers +
              ".e2m1x2.f32 %pair, <a>, <d>; mov.b32 <d>, {%pair, %upper, %upper, "
              "%upper}; }",
          kFloatWord, {named("a", kF32)},
          [](Bits d, Bits a, Bits, int) {
            const Bits upper = a >> 24;
            return upper * 0x01010100 | nearest("e2m1", unpack("f32", a)) << 4 |
                   nearest("e2m1", unpack("f32", d));
          },
          one(opcode), {.d0 = 1.2, .a = 1.5}));
}

std::vector<InstructionRow> microscaling_rows() {
  std::vector<InstructionRow> all;
  for (const Narrow& type : {Narrow{"e2m3", "E2M3"}, Narrow{"e3m2", "E3M2"}}) {
    const std::string pack = "." + type.opcode + ".F32.PACK_AB_MERGE_C";
    all.push_back(from_f32(type, "", "rn.satfinite", "F2FP.SATFINITE" + pack));
    all.push_back(from_f32(type, "_relu", "rn.satfinite.relu", "F2FP.SATFINITE.RELU" + pack));
    all.push_back(to_pair(type, "f16", "", "rn", "F2FP.F16." + type.opcode + ".UNPACK_B"));
  }
  all.push_back(e2m1_row("", "rn.satfinite", "F2FP.SATFINITE.E2M1.F32.PACK_AB_MERGE_C"));
  all.push_back(
      e2m1_row("_relu", "rn.satfinite.relu", "F2FP.SATFINITE.RELU.E2M1.F32.PACK_AB_MERGE_C"));
  all.push_back(per_step(
      "F2FP + LOP3",
      row("f2fp/f16x2_e2m1x2",
          "{ .reg .b8 %x, %y, %z, %w; mov.b32 {%x, %y, %z, %w}, <d>; cvt.rn.f16x2.e2m1x2 <d>, %x; "
          "xor.b32 <d>, <d>, <a>; }",
          kWord,
          [](Bits d, Bits a, Bits, int) {
            return (nearest("f16", unpack("e2m1", d >> 4)) << 16 |
                    nearest("f16", unpack("e2m1", d))) ^
                   a;
          },
          each_of({{"F2FP.F16.E2M1.UNPACK_B", 1}, {"LOP3", 1}}), {.d0 = 0x35, .a = 0x1224})));
  const Narrow scale{"ue8m0", "E8"};
  all.push_back(from_f32(scale, "_rz", "rz", "F2FP.E8.F32.PACK_AB_MERGE_C.RZ", exponent));
  all.push_back(from_f32(scale, "_rp", "rp.satfinite", "F2FP.SATFINITE.E8.F32.PACK_AB_MERGE_C.RP",
                         exponent_above));
  // An upper element of exponent 0x3f makes the lower one's 0x7e.
  all.push_back(
      from_pair(scale, "bf16", "_rz", "rz", "F2FP.E8.BF16.UNPACK_B_MERGE_C.RZ", 0x1f80, exponent));
  all.push_back(from_pair(scale, "bf16", "_rp", "rp", "F2FP.E8.BF16.UNPACK_B_MERGE_C.RP", 0x1f80,
                          exponent_above));
  all.push_back(to_pair(scale, "bf16", "", "rn", "F2FP.BF16.E8.UNPACK_B"));
  return only_with(Feature::narrow_conversions, all);
}

// Stochastic rounding adds the bits of <b> below the result's last: 0 cuts off.
std::vector<InstructionRow> stochastic_rows() {
  const auto pair = [](const std::string& name, const std::string& modifiers,
                       const std::string& type, const std::string& opcode) {
    return row("f2fp/" + name, "cvt." + modifiers + "." + type + "x2.f32 <d>, <a>, <d>, <b>;",
               kFloatWord, {named("a", kF32), named("b", kWord)},
               [type](Bits d, Bits a, Bits, int) {
                 return truncated(type, unpack("f32", a)) << 16 | truncated(type, unpack("f32", d));
               },
               one(opcode), {.d0 = 1.2, .a = 1.5, .b = 0});
  };
  // Two F2FP: the second adds its pair to the first's.
  const auto four = [](const std::string& type, const std::string& opcode) {
    return per_step("2 F2FP",
                    row("f2fp/" + type + "x4_f32_rs",
                        "cvt.rs.satfinite." + type + "x4.f32 <d>, {<a>, <d>, <d>, <a>}, <b>;",
                        kFloatWord, {named("a", kF32), named("b", kWord)},
                        [type](Bits d, Bits a, Bits, int) {
                          return truncated(type, unpack("f32", a)) * 0x01000001 |
                                 truncated(type, unpack("f32", d)) * 0x00010100;
                        },
                        each_of({{"F2FP.SATFINITE." + opcode + ".F32.PACK_AB_MERGE_C.RS", 2}}),
                        {.d0 = 1.2, .a = 1.5, .b = 0}));
  };
  return only_with(
      Feature::stochastic_rounding,
      {pair("f16x2_f32_rs", "rs", "f16", "F2FP.F16.F32.PACK_AB.RS"),
       pair("f16x2_f32_rs_relu", "rs.relu", "f16", "F2FP.RELU.F16.F32.PACK_AB.RS"),
       pair("bf16x2_f32_rs", "rs", "bf16", "F2FP.BF16.F32.PACK_AB.RS"), four("e4m3", "E4M3"),
       four("e5m2", "E5M2"), four("e2m3", "E2M3"), four("e3m2", "E3M2"),
       per_step("2 F2FP + PRMT",
                row("f2fp/e2m1x4_f32_rs",
                    "{ .reg .b16 %t; cvt.rs.satfinite.e2m1x4.f32 %t, {<a>, <d>, <d>, <a>}, <b>; "
                    "mov.b32 <d>, {%t, %t}; }",
                    kFloatWord, {named("a", kF32), named("b", kWord)},
                    [](Bits d, Bits a, Bits, int) {
                      const Bits four = truncated("e2m1", unpack("f32", a)) * 0x1001 |
                                        truncated("e2m1", unpack("f32", d)) * 0x0110;
                      return four << 16 | four;
                    },
                    each_of({{"F2FP.SATFINITE.E2M1.F32.PACK_AB_MERGE_C.RS", 2}, {"PRMT", 1}}),
                    {.d0 = 1.2, .a = 1.5, .b = 0}))});
}

}  // namespace

std::vector<InstructionRow> narrow_float_rows() {
  return joined({sixteen_bit_rows(), eight_bit_rows(), microscaling_rows(), stochastic_rows()});
}

}  // namespace assay::scalar

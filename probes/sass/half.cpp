// SPDX-License-Identifier: Apache-2.0
// Pairs of f16 and bf16 in a register, and FP32 with an f16 or bf16 operand.
//
// From Hopper on ptxas makes additions and multiplications of pairs alternately HADD2 or HMUL2 and
// HFMA2, and on Hopper every second HFMA2 one of the tensor pipe (HFMA2.MMA): it spreads them over
// two pipes, and so do these loops.
#include <algorithm>
#include <cmath>

#include "harness/element.hpp"
#include "probes/sass/rows.hpp"

namespace assay::scalar {
namespace {

double add(double d, double a, double) { return d + a; }
double multiply(double d, double a, double) { return d * a; }
double multiply_add(double d, double a, double b) { return d * a + b; }
double saturated_add(double d, double a, double) { return std::clamp(d + a, 0.0, 1.0); }
double saturated_multiply(double d, double a, double) { return std::clamp(d * a, 0.0, 1.0); }
double saturated(double d, double a, double b) { return std::clamp(d * a + b, 0.0, 1.0); }
double rectified(double d, double a, double b) { return std::max(d * a + b, 0.0); }

constexpr Values kSign{.a = -1}, kBackAndForth{.a = -0.5, .b = 0.25};
constexpr Values kDown{.d0 = 1, .a = -0.0078125};

// `opcode` or its equivalents on the fused multiply-add pipe, with a suffix.
Sass spread(const std::string& opcode, const std::string& suffix) {
  return one(opcode + suffix + "|HFMA2" + suffix + "|HFMA2.MMA" + suffix);
}

InstructionRow pair_row(const std::string& name, const std::string& ptx, const Operand& kind,
                        double (*step)(double, double, double), Sass sass, Values values = {}) {
  return row(name, ptx, kind, elements(kind.element, step), std::move(sass), values);
}

std::vector<InstructionRow> f16_rows() {
  const std::string operands = ".f16x2 <d>, <d>, <a>;", three = ".f16x2 <d>, <d>, <a>, <b>;";
  return {
      pair_row("hadd2/f16x2", "add.rn" + operands, kF16x2, add, spread("HADD2", "")),
      pair_row("hadd2/f16x2_ftz", "add.rn.ftz" + operands, kF16x2, add, spread("HADD2", ".FTZ")),
      pair_row("hadd2/f16x2_sat", "add.rn.sat" + operands, kF16x2, saturated_add,
               spread("HADD2", ".SAT"), kDown),
      pair_row("hmul2/f16x2", "mul.rn" + operands, kF16x2, multiply, spread("HMUL2", ""), kSign),
      pair_row("hmul2/f16x2_ftz", "mul.rn.ftz" + operands, kF16x2, multiply,
               spread("HMUL2", ".FTZ"), kSign),
      pair_row("hmul2/f16x2_sat", "mul.rn.sat" + operands, kF16x2, saturated_multiply,
               spread("HMUL2", ".SAT"), {.a = 0.9990234375}),
      pair_row("hfma2/f16x2", "fma.rn" + three, kF16x2, multiply_add, one("HFMA2")),
      pair_row("hfma2/f16x2_ftz", "fma.rn.ftz" + three, kF16x2, multiply_add,
               one("HFMA2.FTZ|HFMA2.MMA.FTZ")),
      pair_row("hfma2/f16x2_sat", "fma.rn.sat" + three, kF16x2, saturated,
               one("HFMA2.SAT|HFMA2.MMA.SAT"), kBackAndForth),
      pair_row("hfma2/f16x2_relu", "fma.rn.relu" + three, kF16x2, rectified,
               one("HFMA2.RELU|HFMA2.MMA.RELU"), kBackAndForth),
      pair_row(
          "hfma2/f16x2_accumulate", "fma.rn.f16x2 <d>, <a>, <b>, <d>;", kF16x2,
          [](double d, double a, double b) { return a * b + d; }, one("HFMA2")),
  };
}

std::vector<InstructionRow> bf16_rows() {
  const std::string fma = "fma.rn.bf16x2 <d>, <d>, <a>, <b>;";
  return joined(
      {{pair_row("hfma2/bf16x2", fma, kBf16x2, multiply_add,
                 one("HFMA2.BF16_V2|HFMA2.MMA.BF16_V2")),
        pair_row("hfma2/bf16x2_relu", "fma.rn.relu.bf16x2 <d>, <d>, <a>, <b>;", kBf16x2, rectified,
                 one("HFMA2.BF16_V2.RELU|HFMA2.MMA.BF16_V2.RELU"), kBackAndForth)},
       only_with(Feature::bf16_arithmetic,
                 {pair_row("hadd2/bf16x2", "add.rn.bf16x2 <d>, <d>, <a>;", kBf16x2, add,
                           spread("HADD2", ".BF16_V2")),
                  pair_row("hmul2/bf16x2", "mul.rn.bf16x2 <d>, <d>, <a>;", kBf16x2, multiply,
                           spread("HMUL2", ".BF16_V2"), kSign)}),
       // A factor that is the NaN of out of bounds counts as 0: none here is.
       only_with(Feature::fma_oob,
                 {pair_row("hfma2/f16x2_oob", "fma.rn.oob.f16x2 <d>, <d>, <a>, <b>;", kF16x2,
                           multiply_add, one("HFMA2.OOB"))})});
}

std::vector<InstructionRow> minimum_rows() {
  const auto form = [](const std::string& name, const std::string& ptx, const std::string& suffix,
                       double (*step)(double, double, double)) {
    return pair_row("hmnmx2/" + name, "neg.f16x2 <d>, <d>; " + ptx, kF16x2, step,
                    one("HMNMX2" + suffix));
  };
  const auto clamp = [](const std::string& name, const Operand& kind, const std::string& modifier,
                        const std::string& opcode) {
    const std::string type = modifier + "." + kind.element + "x2 <d>, <d>, ";
    return in_a_row(
        2, pair_row("hmnmx2/" + name, "max" + type + "<a>; min" + type + "<b>;", kind,
                    [](double d, double a, double b) { return std::min(std::max(d, a), b); },
                    each_of({{opcode, 2}}), {.a = 2, .b = 4}));
  };
  return {form("min_f16x2", "min.f16x2 <d>, <d>, <a>;", "",
               [](double d, double a, double) { return std::min(-d, a); }),
          form("max_f16x2", "max.f16x2 <d>, <d>, <a>;", "",
               [](double d, double a, double) { return std::max(-d, a); }),
          form("max_f16x2_nan", "max.NaN.f16x2 <d>, <d>, <a>;", ".NAN",
               [](double d, double a, double) { return std::max(-d, a); }),
          pair_row("hmnmx2/max_f16x2_xorsign", "max.xorsign.abs.f16x2 <d>, <d>, <a>;", kF16x2,
                   [](double d, double a, double) {
                     const double larger = std::max(std::abs(d), std::abs(a));
                     return std::signbit(d) != std::signbit(a) ? -larger : larger;
                   },
                   one("HMNMX2.XORSIGN"), {.d0 = 2, .a = -0.5}),
          clamp("clamp_bf16x2", kBf16x2, "", "HMNMX2.BF16_V2"),
          clamp("clamp_bf16x2_nan", kBf16x2, ".NaN", "HMNMX2.BF16_V2.NAN")};
}

// The largest or smallest of three, which Hopper and the datacenter Blackwells have.
std::vector<InstructionRow> three_way_rows() {
  const auto form = [](const std::string& name, const std::string& instruction, const Operand& kind,
                       const std::string& suffix, double (*step)(double, double, double)) {
    return pair_row(
        "vhmnmx/" + name, instruction + " <d>, <d>, <a>; " + instruction + " <d>, <d>, <b>;", kind,
        step, by_feature(Feature::dpx, one("VHMNMX" + suffix), each_of({{"HMNMX2" + suffix, 2}})),
        {.d0 = 1, .a = 2, .b = 4});
  };
  const auto largest = [](double d, double a, double b) { return std::max({d, a, b}); };
  const auto smallest = [](double d, double a, double b) { return std::min({d, a, b}); };
  return {form("max_f16x2", "max.f16x2", kF16x2, "", largest),
          form("min_f16x2", "min.f16x2", kF16x2, "", smallest),
          form("max_f16x2_nan", "max.NaN.f16x2", kF16x2, ".NAN", largest),
          form("max_bf16x2", "max.bf16x2", kBf16x2, ".BF16_V2", largest)};
}

// A predicate is the chain: it goes in as the second operand of the xor.
InstructionRow predicate_row(const std::string& name, const Operand& kind,
                             const std::string& opcode) {
  return row("hsetp2/" + name, "{ .reg .pred %q; setp.lt.xor." + name + " <d>|%q, <a>, <b>, <d>; }",
             kPredicate, {named("a", kind), named("b", kind)},
             [](Bits d, Bits, Bits, int) { return Bits{d == 0}; }, one(opcode),
             {.d0 = 0, .a = 0.25, .b = 0.5});
}

std::vector<InstructionRow> compare_rows() {
  const auto below = [](double d, double a, double) { return d < a ? 1.0 : 0.0; };
  return joined(
      {{pair_row("hset2/f16x2", "set.lt.f16x2.f16x2 <d>, <d>, <a>;", kF16x2, below, one("HSET2")),
        predicate_row("f16x2", kF16x2, "HSETP2")},
       only_with(Feature::bf16_arithmetic,
                 {pair_row("hset2/bf16x2", "set.lt.bf16x2.bf16x2 <d>, <d>, <a>;", kBf16x2, below,
                           one("HSET2.BF16_V2")),
                  predicate_row("bf16x2", kBf16x2, "HSETP2.BF16_V2")})});
}

template <bool is_bf16>
Bits mixed_add(Bits d, Bits a, Bits, int) {
  const double sum = unpack("f32", d) + unpack(is_bf16 ? "bf16" : "f16", a);
  return pack("f32", 32, sum);
}
template <bool is_bf16>
Bits mixed_multiply_add(Bits d, Bits a, Bits b, int) {
  const char* type = is_bf16 ? "bf16" : "f16";
  return pack("f32", 32, unpack("f32", d) + unpack(type, a) * unpack(type, b));
}

// FP32 sums with 16-bit operands.
std::vector<InstructionRow> mixed_rows() {
  const auto operand = [](const char* name, const char* element) {
    return Operand{name, "b16", element};
  };
  return only_with(
      Feature::mixed_fma,
      {row("fhadd/f32_f16", "add.f32.f16 <d>, <a>, <d>;", kF32, {operand("a", "f16")},
           mixed_add<false>, one("FHADD")),
       row("fhadd/f32_bf16", "add.f32.bf16 <d>, <a>, <d>;", kF32, {operand("a", "bf16")},
           mixed_add<true>, one("FHADD.BF16")),
       row("fhfma/f32_f16", "fma.rn.f32.f16 <d>, <a>, <b>, <d>;", kF32,
           {operand("a", "f16"), operand("b", "f16")}, mixed_multiply_add<false>, one("FHFMA")),
       row("fhfma/f32_bf16", "fma.rn.f32.bf16 <d>, <a>, <b>, <d>;", kF32,
           {operand("a", "bf16"), operand("b", "bf16")}, mixed_multiply_add<true>,
           one("FHFMA.BF16"))});
}

}  // namespace

std::vector<InstructionRow> half_rows() {
  return joined(
      {f16_rows(), bf16_rows(), minimum_rows(), three_way_rows(), compare_rows(), mixed_rows()});
}

// Pairs of FP32 in a 64-bit register, native on some targets.
std::vector<InstructionRow> packed_f32_rows() {
  const auto form = [](const std::string& name, const std::string& ptx, const std::string& opcode,
                       const std::string& suffix, float (*step)(float, float, float),
                       Values values) {
    return row(name, ptx, kF32x2, lanes<float>(step),
               by_feature(Feature::f32_pairs_whole, one(opcode + "2" + suffix),
                          each_of({{opcode + suffix, 2}})),
               values);
  };
  const auto sum = [](float d, float a, float) { return d + a; };
  const auto product = [](float d, float a, float) { return d * a; };
  const auto fused = [](float d, float a, float b) { return std::fma(d, a, b); };
  const auto truncated = [](float d, float a, float b) { return toward_zero(double{d} * a + b); };
  const auto accumulated = [](float d, float a, float b) { return std::fma(a, b, d); };
  const Values values;
  return only_with(
      Feature::f32_pairs,
      {form("fadd2/f32x2", "add.rn.f32x2 <d>, <d>, <a>;", "FADD", "", sum, values),
       form("fadd2/f32x2_ftz", "add.rn.ftz.f32x2 <d>, <d>, <a>;", "FADD", ".FTZ", sum, values),
       form("fadd2/f32x2_rz", "add.rz.f32x2 <d>, <d>, <a>;", "FADD", ".RZ", sum, values),
       form("fmul2/f32x2", "mul.rn.f32x2 <d>, <d>, <a>;", "FMUL", "", product, kSign),
       form("fmul2/f32x2_ftz", "mul.rn.ftz.f32x2 <d>, <d>, <a>;", "FMUL", ".FTZ", product, kSign),
       form("fmul2/f32x2_rz", "mul.rz.f32x2 <d>, <d>, <a>;", "FMUL", ".RZ", product, kSign),
       form("ffma2/f32x2", "fma.rn.f32x2 <d>, <d>, <a>, <b>;", "FFMA", "", fused, values),
       form("ffma2/f32x2_ftz", "fma.rn.ftz.f32x2 <d>, <d>, <a>, <b>;", "FFMA", ".FTZ", fused,
            values),
       form("ffma2/f32x2_rz", "fma.rz.f32x2 <d>, <d>, <a>, <b>;", "FFMA", ".RZ", truncated, values),
       form("ffma2/f32x2_accumulate", "fma.rn.f32x2 <d>, <a>, <b>, <d>;", "FFMA", "", accumulated,
            values)});
}

}  // namespace assay::scalar

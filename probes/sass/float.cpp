// SPDX-License-Identifier: Apache-2.0
// FP32: addition, multiplication, fused multiply-add, minimum and maximum, comparison, selection
// and rounding to an integer.
#include <algorithm>
#include <cmath>

#include "probes/sass/rows.hpp"

namespace assay::scalar {
namespace {

float add(float d, float a, float) { return d + a; }
float multiply(float d, float a, float) { return d * a; }
float multiply_add(float d, float a, float b) { return std::fma(d, a, b); }
float saturate(float value) { return std::clamp(value, 0.0f, 1.0f); }

constexpr Values kDown{.d0 = 1000}, kSign{.a = -1};  // steps of 1/128 down; d <- -d

std::vector<InstructionRow> add_rows() {
  return {
      row("fadd/f32", "add.rn.f32 <d>, <d>, <a>;", kF32, lanes<float>(add), one("FADD")),
      row("fadd/f32_rz", "add.rz.f32 <d>, <d>, <a>;", kF32,
          lanes<float>([](float d, float a, float) { return toward_zero(double{d} + a); }),
          one("FADD.RZ"), {.a = 0.3}),
      row("fadd/f32_rm", "add.rm.f32 <d>, <d>, <a>;", kF32,
          lanes<float>([](float d, float a, float) { return downward(double{d} + a); }),
          one("FADD.RM"), {.a = 0.3}),
      row("fadd/f32_ftz", "add.rn.ftz.f32 <d>, <d>, <a>;", kF32, lanes<float>(add),
          one("FADD.FTZ")),
      row("fadd/f32_sat", "add.rn.sat.f32 <d>, <d>, <a>;", kF32,
          lanes<float>([](float d, float a, float) { return saturate(d + a); }), one("FADD.SAT"),
          {.a = -0.0009765625}),
      row("fadd/f32_abs", "abs.f32 <d>, <d>; sub.rn.f32 <d>, <a>, <d>;", kF32,
          lanes<float>([](float d, float a, float) { return a - std::abs(d); }), one("FADD"),
          {.a = 0.3}),
      row("fadd/f32_immediate", "add.rn.f32 <d>, <d>, 0fBC000000;", kF32,
          lanes<float>([](float d, float, float) { return d - 0.0078125f; }), one("FADD"), kDown),
      row("fadd/f32_uniform", "add.rn.f32 <d>, <d>, <a>;", kF32, {uniform("a", kF32)},
          lanes<float>(add), one("FADD"))};
}

std::vector<InstructionRow> multiply_rows() {
  return {row("fmul/f32", "mul.rn.f32 <d>, <d>, <a>;", kF32, lanes<float>(multiply), one("FMUL"),
              kSign),
          row("fmul/f32_rz", "mul.rz.f32 <d>, <d>, <a>;", kF32,
              lanes<float>([](float d, float a, float) { return toward_zero(double{d} * a); }),
              one("FMUL.RZ"), kSign),
          row("fmul/f32_ftz", "mul.rn.ftz.f32 <d>, <d>, <a>;", kF32, lanes<float>(multiply),
              one("FMUL.FTZ"), kSign),
          row("fmul/f32_sat", "mul.rn.sat.f32 <d>, <d>, <a>;", kF32,
              lanes<float>([](float d, float a, float) { return saturate(d * a); }),
              one("FMUL.SAT"), {.a = 0.999}),
          row("fmul/f32_immediate", "mul.rn.f32 <d>, <d>, 0fBF800001;", kF32,
              lanes<float>([](float d, float, float) { return d * -1.00000012f; }), one("FMUL")),
          row("fmul/f32_uniform", "mul.rn.f32 <d>, <d>, <a>;", kF32, {uniform("a", kF32)},
              lanes<float>(multiply), one("FMUL"), kSign)};
}

std::vector<InstructionRow> multiply_add_rows() {
  const auto form = [](const char* name, const std::string& modifier, const char* opcode,
                       float (*step)(float, float, float)) {
    return row(std::string("ffma/") + name, "fma." + modifier + ".f32 <d>, <d>, <a>, <b>;", kF32,
               lanes<float>(step), one(opcode));
  };
  return {
      form("f32", "rn", "FFMA", multiply_add),
      form("f32_rz", "rz", "FFMA.RZ",
           [](float d, float a, float b) { return toward_zero(double{d} * a + b); }),
      form("f32_rm", "rm", "FFMA.RM",
           [](float d, float a, float b) { return downward(double{d} * a + b); }),
      form("f32_ftz", "rn.ftz", "FFMA.FTZ", multiply_add),
      form("f32_sat", "rn.sat", "FFMA.SAT",
           [](float d, float a, float b) { return saturate(std::fma(d, a, b)); }),
      // The sum is the dependence, as in a dot product.
      row("ffma/f32_accumulate", "fma.rn.f32 <d>, <a>, <b>, <d>;", kF32,
          lanes<float>([](float d, float a, float b) { return std::fma(a, b, d); }), one("FFMA")),
      // Reads two registers instead of three.
      row("ffma/f32_two_registers", "fma.rn.f32 <d>, <d>, <a>, <d>;", kF32,
          lanes<float>([](float d, float a, float) { return std::fma(d, a, d); }), one("FFMA"),
          {.a = -2}),
      row("ffma/f32_immediate_factor", "fma.rn.f32 <d>, <d>, 0f3F000000, <a>;", kF32,
          lanes<float>([](float d, float a, float) { return std::fma(d, 0.5f, a); }), one("FFMA")),
      row("ffma/f32_immediate_term", "fma.rn.f32 <d>, <d>, <a>, 0f3E800000;", kF32,
          lanes<float>([](float d, float a, float) { return std::fma(d, a, 0.25f); }), one("FFMA")),
      row("ffma/f32_uniform_factor", "fma.rn.f32 <d>, <d>, <a>, <b>;", kF32,
          {uniform("a", kF32), named("b", kF32)}, lanes<float>(multiply_add), one("FFMA")),
      row("ffma/f32_uniform_term", "fma.rn.f32 <d>, <d>, <a>, <b>;", kF32,
          {named("a", kF32), uniform("b", kF32)}, lanes<float>(multiply_add), one("FFMA"))};
}

// The negation is free, and keeps ptxas from taking two minima with one bound for one.
std::vector<InstructionRow> minimum_rows() {
  const auto form = [](const char* name, const char* ptx, const char* opcode,
                       float (*step)(float, float, float)) {
    return row(std::string("fmnmx/") + name, std::string("neg.f32 <d>, <d>; ") + ptx, kF32,
               lanes<float>(step), one(opcode), {.d0 = 1, .a = 0.5});
  };
  std::vector<InstructionRow> all = {form("min_f32", "min.f32 <d>, <d>, <a>;", "FMNMX",
                                          [](float d, float a, float) { return std::min(-d, a); }),
                                     form("max_f32", "max.f32 <d>, <d>, <a>;", "FMNMX",
                                          [](float d, float a, float) { return std::max(-d, a); }),
                                     form("max_f32_ftz", "max.ftz.f32 <d>, <d>, <a>;", "FMNMX.FTZ",
                                          [](float d, float a, float) { return std::max(-d, a); }),
                                     form("max_f32_nan", "max.NaN.f32 <d>, <d>, <a>;", "FMNMX.NAN",
                                          [](float d, float a, float) { return std::max(-d, a); })};
  // The larger magnitude, with the product of the signs. Reads no negated operand.
  all.push_back(row("fmnmx/max_f32_xorsign", "max.xorsign.abs.f32 <d>, <d>, <a>;", kF32,
                    lanes<float>([](float d, float a, float) {
                      const float larger = std::max(std::abs(d), std::abs(a));
                      return std::signbit(d) != std::signbit(a) ? -larger : larger;
                    }),
                    one("FMNMX.XORSIGN"), {.d0 = 2, .a = -0.5}));
  const auto three = [](const std::string& name, const std::string& ptx, const std::string& suffix,
                        float (*step)(float, float, float)) {
    return row("fmnmx3/" + name, "neg.f32 <d>, <d>; " + ptx, kF32, lanes<float>(step),
               by_feature(Feature::f32_three_way_whole, one("FMNMX3" + suffix),
                          each_of({{"FMNMX" + suffix, 2}})),
               {.d0 = 3, .a = 0.5, .b = 0.25});
  };
  return joined({all, only_with(Feature::f32_three_way,
                                {three("min_f32", "min.f32 <d>, <d>, <a>, <b>;", "",
                                       [](float d, float a, float b) {
                                         return std::min({-d, a, b});
                                       }),
                                 three("max_f32", "max.f32 <d>, <d>, <a>, <b>;", "",
                                       [](float d, float a, float b) {
                                         return std::max({-d, a, b});
                                       }),
                                 three("max_f32_nan", "max.NaN.f32 <d>, <d>, <a>, <b>;", ".NAN",
                                       [](float d, float a, float b) {
                                         return std::max({-d, a, b});
                                       })})});
}

std::vector<InstructionRow> compare_rows() {
  return {
      row("fset/f32", "set.lt.f32.f32 <d>, <d>, <a>;", kF32,
          lanes<float>([](float d, float a, float) { return d < a ? 1.0f : 0.0f; }), one("FSET")),
      // A predicate is the chain: it goes in as the second operand of the xor.
      row("fsetp/f32", "setp.lt.xor.f32 <d>, <a>, <b>, <d>;", kPredicate,
          {named("a", kF32), named("b", kF32)},
          [](Bits d, Bits, Bits, int) { return Bits{d == 0}; }, one("FSETP"),
          {.d0 = 0, .a = 0.25, .b = 0.5}),
      row("fsetp/f32_and", "setp.lt.and.f32 <d>, <a>, <b>, <d>;", kPredicate,
          {named("a", kF32), named("b", kF32)},
          [](Bits d, Bits, Bits, int) { return Bits{d != 0}; }, one("FSETP"),
          {.d0 = 0, .a = 0.25, .b = 0.5}),
      per_step("FSETP + FSEL",
               row("fsetp/f32_select",
                   "{ .reg .pred %p; setp.lt.f32 %p, <d>, <a>; neg.f32 <d>, <d>; "
                   "selp.f32 <d>, <d>, <b>, %p; }",
                   kF32, lanes<float>([](float d, float a, float b) { return d < a ? -d : b; }),
                   each_of({{"FSETP", 1}, {"FSEL", 1}}), {.d0 = 1, .a = 0.5, .b = 0.25})),
      row("fsel/f32", "slct.f32.f32 <d>, <d>, <a>, <b>;", kF32,
          lanes<float>([](float d, float a, float b) { return b >= 0 ? d : a; }), one("FSEL"))};
}

// The negation is free, and keeps ptxas from seeing that rounding twice is rounding once.
std::vector<InstructionRow> round_rows() {
  const auto form = [](const char* name, const std::string& mode, const char* opcode,
                       float (*step)(float, float, float)) {
    return row(std::string("frnd/") + name, "neg.f32 <d>, <d>; cvt." + mode + ".f32.f32 <d>, <d>;",
               kF32, lanes<float>(step), one(opcode), {.d0 = 1.25});
  };
  return {
      form("nearest_f32", "rni", "FRND", [](float d, float, float) { return std::rint(-d); }),
      form("floor_f32", "rmi", "FRND.FLOOR", [](float d, float, float) { return std::floor(-d); }),
      form("ceil_f32", "rpi", "FRND.CEIL", [](float d, float, float) { return std::ceil(-d); }),
      form("truncate_f32", "rzi", "FRND.TRUNC",
           [](float d, float, float) { return std::trunc(-d); }),
      row("frnd/nearest_f64", "neg.f64 <d>, <d>; cvt.rni.f64.f64 <d>, <d>;", kF64,
          lanes<double>([](double d, double, double) { return std::rint(-d); }), one("FRND.F64"),
          {.d0 = 1.25})};
}

}  // namespace

std::vector<InstructionRow> float_rows() {
  return joined({add_rows(), multiply_rows(), multiply_add_rows(), minimum_rows(), compare_rows(),
                 round_rows()});
}

}  // namespace assay::scalar

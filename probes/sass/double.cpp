// SPDX-License-Identifier: Apache-2.0
// FP64.
#include <cmath>

#include "probes/sass/rows.hpp"

namespace assay::scalar {
namespace {

double add(double d, double a, double) { return d + a; }
double multiply(double d, double a, double) { return d * a; }
double multiply_add(double d, double a, double b) { return std::fma(d, a, b); }

}  // namespace

std::vector<InstructionRow> double_rows() {
  return {
      row("dadd/f64", "add.rn.f64 <d>, <d>, <a>;", kF64, lanes<double>(add), one("DADD")),
      // Sums and products of few bits are exact: no direction of rounding changes them.
      row("dadd/f64_rz", "add.rz.f64 <d>, <d>, <a>;", kF64, lanes<double>(add), one("DADD.RZ")),
      row("dadd/f64_immediate", "add.rn.f64 <d>, <d>, 0d3FF8000000000000;", kF64,
          lanes<double>([](double d, double, double) { return d + 1.5; }), one("DADD")),
      row("dmul/f64", "mul.rn.f64 <d>, <d>, <a>;", kF64, lanes<double>(multiply), one("DMUL"),
          {.a = -1}),
      row("dmul/f64_rz", "mul.rz.f64 <d>, <d>, <a>;", kF64, lanes<double>(multiply), one("DMUL.RZ"),
          {.a = -1}),
      row("dfma/f64", "fma.rn.f64 <d>, <d>, <a>, <b>;", kF64, lanes<double>(multiply_add),
          one("DFMA")),
      row("dfma/f64_accumulate", "fma.rn.f64 <d>, <a>, <b>, <d>;", kF64,
          lanes<double>([](double d, double a, double b) { return std::fma(a, b, d); }),
          one("DFMA")),
      row("dfma/f64_rz", "fma.rz.f64 <d>, <a>, <b>, <d>;", kF64,
          lanes<double>([](double d, double a, double b) { return std::fma(a, b, d); }),
          one("DFMA.RZ")),
      row("dfma/f64_uniform_factor", "fma.rn.f64 <d>, <d>, <a>, <b>;", kF64,
          {uniform("a", kF64), named("b", kF64)}, lanes<double>(multiply_add), one("DFMA")),
      // A predicate is the chain: it goes in as the second operand of the xor.
      row("dsetp/f64", "setp.lt.xor.f64 <d>, <a>, <b>, <d>;", kPredicate,
          {named("a", kF64), named("b", kF64)},
          [](Bits d, Bits, Bits, int) { return Bits{d == 0}; }, one("DSETP"),
          {.d0 = 0, .a = 0.25, .b = 0.5}),
      per_step("DSETP + 2 FSEL",
               row("dsetp/f64_select",
                   "{ .reg .pred %p; setp.lt.f64 %p, <d>, <a>; selp.f64 <d>, <b>, <d>, %p; }", kF64,
                   lanes<double>([](double d, double a, double b) { return d < a ? b : d; }),
                   each_of({{"DSETP", 1}, {"FSEL", 2}}), {.d0 = -3, .a = 0.5, .b = 0.25})),
  };
}

}  // namespace assay::scalar

// SPDX-License-Identifier: Apache-2.0
// Golden forms of approximations. What a case leaves is not the result but its distance, in last
// places, from the number that is right when rounded to the nearest: small numbers, which
// silicon.txt keeps whole, so that a bound can be had from them.
#include <cmath>
#include <functional>

#include "harness/model/semantics/number.hpp"
#include "harness/model/tests/golden/forms.hpp"

namespace assay::model::golden {
namespace {

using std::string;
using Function = std::function<double(double, double)>;

constexpr int kValues = 8;  // of a thread

struct Instruction {
  string opcode, type;
  Function exact;
  int operands = 1;
  // Exponents of most arguments, and whether these have a sign.
  int least = -20, most = 8;
  bool with_sign = true;
  double relative = 0, absolute = 0, greatest = INFINITY;  // its bound, for arguments up to so many
};

double flushed(double x, bool ftz) {
  return ftz && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
}

// An argument as its bits.
std::uint64_t argument(Random& random, const Number& n, const Instruction& a) {
  const std::uint64_t any = random.next();
  if (random.below(12) == 0) return any & (~std::uint64_t{0} >> (64 - n.bits));
  const int span = a.most - a.least + 1;
  const int exponent = a.least + static_cast<int>(random.below(static_cast<std::uint64_t>(span)));
  const double fraction = 1 + static_cast<double>(any >> 11) * 0x1p-53;
  const bool minus = a.with_sign && (any & 1) != 0;
  if (random.below(32) == 0) {
    const double special[] = {0, 1, 2, 0.5, INFINITY, 1 + 0x1p-7, 3, 1 - 0x1p-8};
    const double x = special[random.below(8)];
    return from_double(n, minus ? -x : x);
  }
  return from_double(n, std::ldexp(minus ? -fraction : fraction, exponent));
}

void put(std::vector<std::uint8_t>& to, std::size_t at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes; ++k) to[at + k] = static_cast<std::uint8_t>(value >> (8 * k));
}

// Words of 32 bits; of halves two values in each, of f64 one in two of them.
Form form_of(const Instruction& a) {
  Number n;
  parse_number(a.type, n);
  const bool wide = n.bits == 64, half = n.bits == 16, ftz = a.opcode.find("ftz") != string::npos;
  Form f;
  f.name = a.opcode + "." + a.type;
  f.values_of = half ? 16 : 32;
  f.approximation = {a.type, a.relative, a.absolute, {}, {}};
  f.cases = half ? 128 : 24;  // all arguments there are, where they are halves
  f.output_bytes = 32 * kValues * 4;
  const int words = kValues * (a.operands + 1);
  string p =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry form(.param .u64 in, .param "
      ".u64 out)\n{\n.reg .b64 %in, %out, %off, %x, %y, %z;\n.reg .b32 %t, %c, %i, %a, %b, %e, "
      "%r;\n.reg .b16 %h<6>;\n"
      "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmov.u32 %c, "
      "%ctaid.x;\nmad.lo.u32 %i, %c, 32, %t;\nmul.wide.u32 %off, %i, " +
      std::to_string(4 * words) + ";\nadd.s64 %in, %in, %off;\nmul.wide.u32 %off, %i, " +
      std::to_string(4 * kValues) + ";\nadd.s64 %out, %out, %off;\n";
  const string opcode = a.opcode + "." + a.type;
  for (int k = 0; k < kValues; k += wide ? 2 : 1) {
    const auto at = [&](int part) {
      return "[%in+" + std::to_string(4 * (part * kValues + k)) + "]";
    };
    const string out = "[%out+" + std::to_string(4 * k) + "]";
    if (wide) {
      p += "ld.global.u64 %x, " + at(0) + ";\nld.global.u64 %y, " + at(1) + ";\n" + opcode +
           " %z, %x;\nsub.s64 %z, %z, %y;\nst.global.u64 " + out + ", %z;\n";
      continue;
    }
    p += "ld.global.u32 %a, " + at(0) + ";\n";
    if (a.operands == 2) p += "ld.global.u32 %b, " + at(1) + ";\n";
    p += "ld.global.u32 %e, " + at(a.operands) + ";\n";
    if (half && n.count == 1) {
      p += "mov.b32 {%h0, %h1}, %a;\n" + opcode + " %h0, %h0;\n" + opcode +
           " %h1, %h1;\nmov.b32 %r, {%h0, %h1};\n";
    } else {
      p += opcode + " %r, %a" + (a.operands == 2 ? ", %b" : "") + ";\n";
    }
    if (half)
      p += "mov.b32 {%h0, %h1}, %r;\nmov.b32 {%h2, %h3}, %e;\nsub.s16 %h0, %h0, %h2;\nsub.s16 %h1, "
           "%h1, %h3;\nmov.b32 %r, {%h0, %h1};\n";
    else
      p += "sub.s32 %r, %r, %e;\n";
    p += "st.global.u32 " + out + ", %r;\n";
  }
  f.ptx = p + "ret;\n}\n";
  Random random(f.name);
  Number one = n;
  one.count = 1;
  f.input.resize(static_cast<std::size_t>(f.cases) * 32 * static_cast<std::size_t>(words) * 4);
  std::uint64_t next = 0;  // of halves, each in its turn
  for (std::size_t thread = 0; thread < static_cast<std::size_t>(f.cases) * 32; ++thread)
    for (std::size_t k = 0; k < kValues * 4; k += static_cast<std::size_t>(n.bits) / 8) {
      const auto bytes = static_cast<std::size_t>(n.bits) / 8;
      double x[2] = {};
      for (int part = 0; part < a.operands; ++part) {
        const std::uint64_t bits = half ? next++ & 0xffff : argument(random, one, a);
        x[part] = flushed(to_double(one, bits), ftz && n.bits == 32);
        put(f.input,
            thread * static_cast<std::size_t>(words) * 4 +
                static_cast<std::size_t>(part) * kValues * 4 + k,
            bits, bytes);
      }
      const double exact = a.exact(x[0], x[1]);
      std::uint64_t right =
          std::isnan(exact) && n.bits == 32 ? 0x7fffffff : from_double(one, exact);
      if (ftz && n.bits == 32 && (right & 0x7f800000) == 0) right &= 0x80000000;
      f.approximation.right.push_back(right);
      f.approximation.stated.push_back(!(std::fabs(x[a.operands - 1]) > a.greatest));
      put(f.input,
          thread * static_cast<std::size_t>(words) * 4 +
              static_cast<std::size_t>(a.operands) * kValues * 4 + k,
          right, bytes);
    }
  return f;
}

}  // namespace

std::vector<Form> approximate_forms() {
  const Function ex2 = [](double x, double) { return std::exp2(x); };
  const Function lg2 = [](double x, double) { return std::log2(x); };
  const Function sine = [](double x, double) { return std::sin(x); };
  const Function cosine = [](double x, double) { return std::cos(x); };
  const Function tanh = [](double x, double) { return std::tanh(x); };
  const Function rcp = [](double x, double) { return 1 / x; };
  const Function rsqrt = [](double x, double) { return 1 / std::sqrt(x); };
  const Function root = [](double x, double) { return std::sqrt(x); };
  const Function quotient = [](double x, double y) { return x / y; };
  std::vector<Form> all;
  const auto add = [&](const Instruction& a, double relative, double absolute = 0,
                       double greatest = INFINITY) {
    Instruction bounded = a;
    bounded.relative = relative;
    bounded.absolute = absolute;
    bounded.greatest = greatest;
    all.push_back(form_of(bounded));
  };
  // The manual's bounds for f32 are of the value before it is rounded: half a place more, 2^-24. To
  // sines it gives one from -pi to pi, and to quotients one for divisors up to 2^126.
  constexpr double kPi = 3.14159265358979;
  for (const char* ftz : {"", ".ftz"}) {
    const string end = ftz;
    add({"ex2.approx" + end, "f32", ex2, 1, -12, 6}, 0x1p-22);
    add({"lg2.approx" + end, "f32", lg2, 1, -20, 20, false}, 0x1p-22, 0x1p-22);
    add({"sin.approx" + end, "f32", sine, 1, -12, 3}, 0x1p-24, 0x1p-20, kPi);
    add({"cos.approx" + end, "f32", cosine, 1, -12, 3}, 0x1p-24, 0x1p-20, kPi);
    add({"rcp.approx" + end, "f32", rcp, 1, -20, 20}, 0x1p-23, 0x1p-149);
    add({"rsqrt.approx" + end, "f32", rsqrt, 1, -20, 20, false}, 0x1p-23);
    add({"sqrt.approx" + end, "f32", root, 1, -20, 20, false}, 0x1p-23);
    add({"div.approx" + end, "f32", quotient, 2, -20, 20}, 0x1p-22, 0x1p-126, 0x1p126);
    add({"div.full" + end, "f32", quotient, 2, -20, 20}, 0x1p-22, 0x1p-149);
  }
  add({"tanh.approx", "f32", tanh, 1, -12, 4}, 0x1p-16);
  add({"rcp.approx.ftz", "f64", rcp, 1, -20, 20}, 0x1p-20, 0x1p-1022);
  add({"rsqrt.approx.ftz", "f64", rsqrt, 1, -20, 20, false}, 0x1p-20);
  add({"rsqrt.approx", "f64", rsqrt, 1, -20, 20, false}, 0x1p-52);
  for (const char* type : {"f16", "f16x2"}) {
    add({"ex2.approx", type, ex2}, 0x1p-9, 0x1p-24);
    add({"tanh.approx", type, tanh}, 0x1p-10, 0x1p-24);
  }
  for (const char* type : {"bf16", "bf16x2"}) {
    add({"ex2.approx.ftz", type, ex2}, 0x1p-7, 0x1p-126);
    add({"tanh.approx", type, tanh}, 0x1p-7);
  }
  return all;
}

}  // namespace assay::model::golden

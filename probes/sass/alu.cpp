// SPDX-License-Identifier: Apache-2.0
// The arithmetic instructions that kernels spend their issue slots on, one by one: results per
// clock and SM, and cycles until the result can be used.
//
// ops counts instructions per thread: an HFMA2 is one, though it does two multiply-adds. No row may
// undo itself, or ptxas drops pairs of it: -1/d instead of 1/d is enough for that.
#include <bit>
#include <cmath>

#include "harness/instruction_probe.hpp"
#include "harness/limits.hpp"

namespace {

using namespace assay;

using Word = std::uint32_t;

// Results per clock and SM.
Limit per_clock(double value) {
  return {value, "results per clock and SM, CUDA C++ Best Practices Guide 13.0, 12.1.1"};
}

// FP64 units: 64 on the datacenter chips but B300, which like the others has 2.
Limit fp64(Target target) {
  return per_clock(target == Target::sm_90a || target == Target::sm_100a ? 64 : 2);
}
Limit integer_add(Target target) { return per_clock(target == Target::sm_120a ? 128 : 64); }
Limit half2(Target target) { return per_clock(target == Target::sm_90a ? 128 : 64); }

std::function<Limit(Target)> always(double value) {
  return [value](Target) { return per_clock(value); };
}

std::function<std::vector<SassRule>(Target)> one(const char* opcode) {
  return [opcode](Target) { return std::vector<SassRule>{{opcode, 1, 1}}; };
}

Word word(double value) { return static_cast<Word>(static_cast<std::int64_t>(value)); }

const Operand kFloat{"d", "f32", "f32"}, kDouble{"d", "f64", "f64"}, kHalf2{"d", "b32", "f16"},
    kWord{"d", "b32", "u32"};

// d with inputs a and b of the same kind.
std::vector<Operand> a_and_b(Operand like) {
  Operand a = like, b = like;
  a.name = "a";
  b.name = "b";
  return {a, b};
}

std::vector<InstructionRow> rows() {
  std::vector<InstructionRow> all = {
      {.name = "fadd/f32",
       .ptx = "add.rn.f32 <d>, <d>, <a>;",
       .chain = kFloat,
       .inputs = a_and_b(kFloat),
       .step = [](double d, double a, double, int) { return d + a; },
       .limit = always(128),
       .sass = one("FADD")},
      {.name = "fmul/f32",
       .ptx = "mul.rn.f32 <d>, <d>, <a>;",
       .chain = kFloat,
       .inputs = a_and_b(kFloat),
       .step = [](double d, double a, double, int) { return d * a; },
       .a = -1,
       .limit = always(128),
       .sass = one("FMUL")},
      {.name = "ffma/f32",
       .ptx = "fma.rn.f32 <d>, <d>, <a>, <b>;",
       .chain = kFloat,
       .inputs = a_and_b(kFloat),
       .step = [](double d, double a, double b, int) { return d * a + b; },
       .tolerance = 1e-5,
       .limit = always(128),
       .sass = one("FFMA")},
      {.name = "iadd3/s32",
       .ptx = "add.u32 <d>, <d>, <a>; add.u32 <d>, <d>, <b>;",
       .chain = kWord,
       .inputs = a_and_b(kWord),
       .step = [](double d, double a, double b, int) { return word(d + a + b); },
       .a = 3,
       .b = 5,
       .limit = integer_add,
       .sass = one("IADD3")},
      {.name = "imad/s32",
       .ptx = "mad.lo.u32 <d>, <d>, <a>, <b>;",
       .chain = kWord,
       .inputs = a_and_b(kWord),
       .step = [](double d, double a, double b, int) { return word(d) * word(a) + word(b); },
       .a = 3,
       .b = 5,
       .limit = always(64),
       .sass = one("IMAD")},
      {.name = "lop3/b32",
       .ptx = "lop3.b32 <d>, <d>, <a>, <b>, 0x6a;",
       .chain = kWord,
       .inputs = a_and_b(kWord),
       .step = [](double d, double a, double b, int) { return word(b) ^ (word(d) & word(a)); },
       .a = 0x3333,
       .b = 0x5555,
       .limit = always(64),
       .sass = one("LOP3")},
      {.name = "shf/b32",
       .ptx = "shf.l.wrap.b32 <d>, <d>, <a>, <b>;",
       .chain = kWord,
       .inputs = a_and_b(kWord),
       // The upper word of a:d, shifted left.
       .step = [](double d, double a, double b,
                  int) { return word(a) << word(b) | word(d) >> (32 - word(b)); },
       .d0 = 0x12345678,
       .a = 0x3333,
       .b = 5,
       .limit = always(64),
       .sass = one("SHF")},
      {.name = "prmt/b32",
       .ptx = "prmt.b32 <d>, <d>, <a>, <b>;",
       .chain = kWord,
       .inputs = a_and_b(kWord),
       // Selector 0x4321: byte i of the result is byte i + 1 of a:d.
       .step = [](double d, double a, double, int) { return word(d) >> 8 | word(a) << 24; },
       .d0 = 0x12345678,
       .a = 0x33,
       .b = 0x4321,
       .sass = one("PRMT")},
      {.name = "popc/b32",
       .ptx = "popc.b32 <d>, <d>;",
       .chain = kWord,
       .step = [](double d, double, double, int) { return std::popcount(word(d)); },
       .d0 = 0xffff,
       .limit = always(16),
       .sass = one("POPC")},
      {.name = "mufu/rcp",
       .ptx = "neg.f32 <d>, <d>; rcp.approx.ftz.f32 <d>, <d>;",
       .chain = kFloat,
       .step = [](double d, double, double, int) { return -1 / d; },
       .tolerance = 1e-4,
       .limit = [](Target target) { return limits::special_function(target, "rcp"); },
       .sass = one("MUFU.RCP")},
      {.name = "dfma/f64",
       .ptx = "fma.rn.f64 <d>, <d>, <a>, <b>;",
       .chain = kDouble,
       .inputs = a_and_b(kDouble),
       .step = [](double d, double a, double b, int) { return d * a + b; },
       .tolerance = 1e-12,
       .limit = fp64,
       .sass = one("DFMA")},
      {.name = "hfma2/f16x2",
       .ptx = "fma.rn.f16x2 <d>, <d>, <a>, <b>;",
       .chain = kHalf2,
       .inputs = a_and_b(kHalf2),
       .step = [](double d, double a, double b, int) { return d * a + b; },
       .tolerance = 2e-3,
       .limit = half2,
       .sass = one("HFMA2")},
  };
  for (InstructionRow& row : all) {
    row.ops = 32;
    row.warps = 32;
    row.chains = 8;
    row.unroll = 64;
  }
  return all;
}

const Registration registration{instruction_probe(
    {.name = "sass",
     .question = "How many of each arithmetic instruction does an SM finish per clock, and after "
                 "how many cycles is a result there?"},
    rows())};

}  // namespace

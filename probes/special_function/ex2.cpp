// SPDX-License-Identifier: Apache-2.0
// 2^x on the special function unit, and the multiply-add it competes with in softmax.
//
// The chain is x -> 2^-x: the unit negates its operand for free, and unlike x -> 2^x it does not
// run off to infinity but towards 0.641, where 2^-x = x.
#include <cmath>

#include "harness/instruction_probe.hpp"
#include "harness/limits.hpp"

namespace {

using namespace assay;

const Registration ex2{instruction_probe(
    {.name = "special_function/ex2",
     .question = "How many 2^x does an SM deliver per clock, and after how many cycles?"},
    {{.name = "f32",
      .ptx = "neg.f32 <d>, <d>; ex2.approx.ftz.f32 <d>, <d>;",
      .chain = {"d", "f32", "f32"},
      .step = [](double d, double, double, int) { return std::exp2(-d); },
      .tolerance = 1e-5,
      .ops = 32,
      .limit = [](Target target) { return limits::special_function(target, "ex2"); },
      .sass =
          [](Target) {
            return std::vector<SassRule>{{"MUFU.EX2", 1, 1}, {"FMUL", 0, 0}, {"FADD", 0, 0}};
          },
      .chains = 4,
      .unroll = 32}})};

const Registration ffma{instruction_probe(
    {.name = "special_function/ffma",
     .question = "How many FP32 operations does an SM deliver per clock beside the special "
                 "functions?"},
    {{.name = "f32",
      .ptx = "fma.rn.f32 <d>, <d>, <a>, <b>;",
      .chain = {"d", "f32", "f32"},
      .inputs = {{"a", "f32", "f32"}, {"b", "f32", "f32"}},
      .step = [](double d, double a, double b, int) { return d * a + b; },
      .a = 0.9375,
      .tolerance = 1e-5,
      .flop = 64,
      .limit = [](Target) { return limits::ffma(); },
      .sass =
          [](Target) {
            return std::vector<SassRule>{{"FFMA", 1, 1}};
          },
      // Counter, compare and branch take 3 issue slots beside 896 copies, and eight warps per
      // scheduler hide what the branch back costs each of them.
      .warps = 32,
      .chains = 8,
      .unroll = 112}})};

}  // namespace

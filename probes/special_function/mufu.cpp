// SPDX-License-Identifier: Apache-2.0
// Every function of the special function unit (MUFU in machine code), bare and as PTX's forms
// compile it.
//
// ops counts results: an instruction on f16x2 or bf16x2 gives two a lane (results_per_instruction),
// whatever number of MUFU it becomes. No chain may run off to infinity or 0, and none may undo
// itself, or ptxas drops pairs of it:
//   x -> 2^-x        goes to 0.641, where 2^-x = x; MUFU negates its operand for free
//   x -> -1 / x      goes back and forth
//   x -> 1 / sqrt x, sqrt x     go to 1
//   x -> cos x, tanh -x         go to 0.739, and towards 0 ever slower: 0.01 after 20 000 steps
//   x -> log2(x + 8), sin(x + 1)    go to 3.54 and 0.935, with an addition in the chain
// sin and cos bring an FMUL by 1 / (2 pi) along. What else is in a chain has a latency of its own:
// mufu_latency_cycles is that of the chain less that of the same chain without the MUFU.
#include <cmath>

#include "harness/callable.hpp"
#include "harness/instruction/row_probe.hpp"
#include "harness/limits.hpp"
#include "harness/statistics.hpp"

namespace {

using namespace assay;

const Operand kFloat{"d", "f32", "f32"}, kDouble{"d", "f64", "f64"}, kHalf2{"d", "b32", "f16"},
    kBfloat2{"d", "b32", "bf16"};

double exp2_minus(double d, double, double, int) { return std::exp2(-d); }
double minus_reciprocal(double d, double, double, int) { return -1 / d; }
double reciprocal_root(double d, double, double, int) { return 1 / std::sqrt(d); }
double tanh_minus(double d, double, double, int) { return std::tanh(-d); }

// MUFU `function`, `count` of them for each execution, beside which `others` may occur.
Callable<std::vector<SassRule>(Target)> mufu(const char* function, int count = 1,
                                             std::vector<SassRule> others = {}) {
  return [=](Target) {
    std::vector<SassRule> rules = {{std::string("MUFU.") + function, count, count}};
    rules.insert(rules.end(), others.begin(), others.end());
    return rules;
  };
}

// Only sm_103 computes two results of 2^x in one instruction.
Callable<std::vector<SassRule>(Target)> packed_ex2(const char* type) {
  return [type](Target target) {
    const std::string opcode = std::string("MUFU.EX2.") + type;
    return has(target, Feature::packed_ex2) ? std::vector<SassRule>{{opcode + "x2", 1, 1}}
                                            : std::vector<SassRule>{{opcode, 2, 2}};
  };
}

InstructionRow row_of(InstructionRow row, const std::string& function) {
  const int results = row.chain.reg == "b32" && row.name.ends_with("x2") ? 2 : 1;
  row.ops = 32 * results;
  row.params["results_per_instruction"] = std::int64_t{results};
  row.limit = [function](Target target) { return limits::special_function(target, function); };
  row.unroll = 32;
  if (function != "ex2" || row.name != "f32") row.suite = Suite::full;
  return row;
}

std::vector<InstructionRow> ex2_rows() {
  return {{.name = "f32",
           .ptx = "neg.f32 <d>, <d>; ex2.approx.ftz.f32 <d>, <d>;",
           .chain = kFloat,
           .step = exp2_minus,
           .tolerance = 1e-5,
           .sass = mufu("EX2", 1, {{"FMUL", 0, 0}, {"FADD", 0, 0}})},
          // Arguments whose result is subnormal are halved first and the result is squared.
          {.name = "f32_subnormal",
           .ptx = "neg.f32 <d>, <d>; ex2.approx.f32 <d>, <d>;",
           .chain = kFloat,
           .step = exp2_minus,
           .tolerance = 1e-5,
           .sass = mufu("EX2", 1, {{"FSETP", 1, 1}, {"FMUL", 2, 2}})},
          {.name = "f16",
           .ptx = "{ .reg .b16 %h0, %h1; mov.b32 {%h0, %h1}, <d>; neg.f16 %h0, %h0; "
                  "ex2.approx.f16 %h0, %h0; mov.b32 <d>, {%h0, %h1}; }",
           .chain = kHalf2,
           .step = exp2_minus,
           .tolerance = 4e-3,
           .sass = mufu("EX2.F16")},
          {.name = "f16x2",
           .ptx = "neg.f16x2 <d>, <d>; ex2.approx.f16x2 <d>, <d>;",
           .chain = kHalf2,
           .step = exp2_minus,
           .tolerance = 4e-3,
           .sass = packed_ex2("F16")},
          {.name = "bf16x2",
           .ptx = "neg.bf16x2 <d>, <d>; ex2.approx.ftz.bf16x2 <d>, <d>;",
           .chain = kBfloat2,
           .step = exp2_minus,
           .tolerance = 2e-2,
           .sass = packed_ex2("BF16"),
           .targets = targets_with(Feature::bf16_arithmetic)}};
}

std::vector<InstructionRow> lg2_rows() {
  return {{.name = "f32",
           .ptx = "add.ftz.f32 <d>, <d>, <a>; lg2.approx.ftz.f32 <d>, <d>;",
           .chain = kFloat,
           .inputs = {{"a", "f32", "f32"}},
           .step = [](double d, double a, double, int) { return std::log2(d + a); },
           .a = 8,
           .tolerance = 1e-5,
           .sass = mufu("LG2", 1, {{"FADD", 1, 1}})}};
}

std::vector<InstructionRow> rcp_rows() {
  return {{.name = "f32",
           .ptx = "neg.f32 <d>, <d>; rcp.approx.ftz.f32 <d>, <d>;",
           .chain = kFloat,
           .step = minus_reciprocal,
           .tolerance = 1e-4,
           .sass = mufu("RCP")},
          // About 20 bits of a double, from its upper word.
          {.name = "f64",
           .ptx = "neg.f64 <d>, <d>; rcp.approx.ftz.f64 <d>, <d>;",
           .chain = kDouble,
           .step = minus_reciprocal,
           .tolerance = 1e-3,
           .sass = mufu("RCP64H")}};
}

std::vector<InstructionRow> rsqrt_rows() {
  return {{.name = "f32",
           .ptx = "rsqrt.approx.ftz.f32 <d>, <d>;",
           .chain = kFloat,
           .step = reciprocal_root,
           .tolerance = 1e-5,
           .sass = mufu("RSQ")},
          {.name = "f64",
           .ptx = "rsqrt.approx.ftz.f64 <d>, <d>;",
           .chain = kDouble,
           .step = reciprocal_root,
           .tolerance = 1e-4,
           .sass = mufu("RSQ64H")}};
}

std::vector<InstructionRow> sqrt_rows() {
  return {{.name = "f32",
           .ptx = "sqrt.approx.ftz.f32 <d>, <d>;",
           .chain = kFloat,
           .step = [](double d, double, double, int) { return std::sqrt(d); },
           .tolerance = 1e-5,
           .sass = mufu("SQRT")}};
}

std::vector<InstructionRow> sin_rows() {
  return {{.name = "f32",
           .ptx = "add.ftz.f32 <d>, <d>, <a>; sin.approx.ftz.f32 <d>, <d>;",
           .chain = kFloat,
           .inputs = {{"a", "f32", "f32"}},
           .step = [](double d, double a, double, int) { return std::sin(d + a); },
           .a = 1,
           .tolerance = 1e-5,
           .sass = mufu("SIN", 1, {{"FADD", 1, 1}, {"FMUL", 1, 1}})}};
}

std::vector<InstructionRow> cos_rows() {
  return {{.name = "f32",
           .ptx = "cos.approx.ftz.f32 <d>, <d>;",
           .chain = kFloat,
           .step = [](double d, double, double, int) { return std::cos(d); },
           .tolerance = 1e-5,
           .sass = mufu("COS", 1, {{"FMUL", 1, 1}})}};
}

std::vector<InstructionRow> tanh_rows() {
  // Near 0 a step changes x by x^3 / 3, and every error of up to 2^-11 stays: after 256 steps it
  // may be a tenth. bf16 would round the change away, so its chain is tanh(b - x / 2), which goes
  // to 0.5.
  return {{.name = "f32",
           .ptx = "neg.f32 <d>, <d>; tanh.approx.f32 <d>, <d>;",
           .chain = kFloat,
           .step = tanh_minus,
           .tolerance = 0.1,
           .sass = mufu("TANH")},
          {.name = "f16",
           .ptx = "{ .reg .b16 %h0, %h1; mov.b32 {%h0, %h1}, <d>; neg.f16 %h0, %h0; "
                  "tanh.approx.f16 %h0, %h0; mov.b32 <d>, {%h0, %h1}; }",
           .chain = kHalf2,
           .step = tanh_minus,
           .tolerance = 0.2,
           .sass = mufu("TANH.F16")},
          {.name = "f16x2",
           .ptx = "neg.f16x2 <d>, <d>; tanh.approx.f16x2 <d>, <d>;",
           .chain = kHalf2,
           .step = tanh_minus,
           .tolerance = 0.2,
           .sass = mufu("TANH.F16", 2)},
          {.name = "bf16x2",
           .ptx = "fma.rn.bf16x2 <d>, <d>, <a>, <b>; tanh.approx.bf16x2 <d>, <d>;",
           .chain = kBfloat2,
           .inputs = {{"a", "b32", "bf16"}, {"b", "b32", "bf16"}},
           .step = [](double d, double a, double b, int) { return std::tanh(d * a + b); },
           .a = -0.5,
           .b = 0.75,
           .tolerance = 2e-2,
           .sass = mufu("TANH.BF16", 2, {{"HFMA2", 1, 1}}),
           .targets = targets_with(Feature::bf16_arithmetic)}};
}

// x / y with a scaling of both where y is very large or small.
std::vector<InstructionRow> division_rows() {
  return {{.name = "full_f32",
           .ptx = "add.ftz.f32 <d>, <d>, <a>; div.full.ftz.f32 <d>, <a>, <d>;",
           .chain = kFloat,
           .inputs = {{"a", "f32", "f32"}},
           .step = [](double d, double a, double, int) { return a / (d + a); },
           .a = 1,
           .tolerance = 1e-5,
           .sass = mufu("RCP")}};
}

// What else than MUFU is in the chain of a row: the same text without it.
struct Remainder {
  const char* ptx;
  Callable<double(double, double, double, int)> step;
};

constexpr KernelShape kChain{.warps = 1, .chains = 1, .unroll = 64};

// The probe of rows whose first is bare but for `remainder`.
Probe with_mufu_latency(const Probe& probe, const InstructionRow& row, const Remainder& remainder) {
  InstructionRow rest = row;
  rest.ptx = remainder.ptx;
  rest.step = remainder.step;
  rest.inputs = {{"a", "f32", "f32"}, {"b", "f32", "f32"}};
  rest.a = -1;  // neither dies out under multiplication nor runs off under addition
  rest.b = 0.25;
  rest.sass = [](Target) { return std::vector<SassRule>{{"MUFU", 0, 0}}; };
  Probe extended = probe;
  extended.metrics.push_back(
      {"mufu_latency_cycles",
       "Latency of MUFU alone: of the chain less that of the same chain without MUFU."});
  extended.kernels = [=, kernels = probe.kernels](const Case& c, Target target) {
    std::vector<KernelUse> uses = kernels(c, target);
    uses.push_back(row_kernel(row, kChain, "whole_chain", target));
    uses.push_back(row_kernel(rest, kChain, "remainder", target));
    return uses;
  };
  extended.run = [=, run = probe.run](State& s) {
    run(s);
    std::vector<double> latency = s.cycles({}, prepare_row(s, row, kChain, "whole_chain"));
    const double other = median(s.cycles({}, prepare_row(s, rest, kChain, "remainder")));
    for (double& cycles : latency) cycles = (cycles - other) / kChain.unroll;
    s.add_metric("mufu_latency_cycles", "cycle", Better::lower, latency);
  };
  return extended;
}

Probe probe_of(const std::string& function, std::vector<InstructionRow> rows) {
  for (InstructionRow& row : rows) row = row_of(row, function);
  return instruction_probe(
      {.name = "special_function/" + function,
       .question = "How many results of " + function +
                   " does an SM deliver per clock, and after how many cycles?"},
      rows);
}

Probe probe_of(const std::string& function, const std::vector<InstructionRow>& rows,
               const Remainder& remainder) {
  return with_mufu_latency(probe_of(function, rows), rows.front(), remainder);
}

double plus(double d, double a, double, int) { return d + a; }
double times(double d, double a, double, int) { return d * a; }

const Registration registrations[] = {
    Registration{probe_of("ex2", ex2_rows())},
    Registration{probe_of("lg2", lg2_rows(), {"add.ftz.f32 <d>, <d>, <a>;", plus})},
    Registration{probe_of("rcp", rcp_rows())},
    Registration{probe_of("rsqrt", rsqrt_rows())},
    Registration{probe_of("sqrt", sqrt_rows())},
    // x -> (x + a) b settles at a b / (1 - b).
    Registration{probe_of("sin", sin_rows(),
                          {"add.ftz.f32 <d>, <d>, <a>; mul.ftz.f32 <d>, <d>, <b>;",
                           [](double d, double a, double b, int) { return (d + a) * b; }})},
    Registration{probe_of("cos", cos_rows(), {"mul.ftz.f32 <d>, <d>, <a>;", times})},
    Registration{probe_of("tanh", tanh_rows())},
    Registration{probe_of("div", division_rows())},
};

const Registration ffma{instruction_probe(
    {.name = "special_function/ffma",
     .question = "How many FP32 operations does an SM deliver per clock beside the special "
                 "functions?"},
    {{.name = "f32",
      .ptx = "fma.rn.f32 <d>, <d>, <a>, <b>;",
      .chain = kFloat,
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

// SPDX-License-Identifier: Apache-2.0
// Is a multiply-add fused: is the product rounded before it is added to? Each instruction is run on
// random operands whose sums mostly cancel, where what the product's rounding takes away is all
// that is left, and compared bit for bit with both answers: fma() on the CPU, and a rounded product
// plus a rounded sum. The parameter `finding` says which it was.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"

namespace {

using namespace assay;

constexpr int kThreads = 1024;

struct Instruction {
  const char *name, *type, *text, *opcode;
};
// The pair is written as two instructions that ptxas must not contract.
constexpr Instruction kInstructions[] = {
    {"fma_f32", "f32", "fma.rn.f32 %d, %a, %b, %c;", "FFMA"},
    {"fma_ftz_f32", "f32", "fma.rn.ftz.f32 %d, %a, %b, %c;", "FFMA.FTZ"},
    {"mul_add_f32", "f32", "mul.rn.f32 %d, %a, %b; add.rn.f32 %d, %d, %c;", "FMUL"},
    {"mad_f32", "f32", "mad.rn.f32 %d, %a, %b, %c;", "FFMA"},
    {"fma_f64", "f64", "fma.rn.f64 %d, %a, %b, %c;", "DFMA"},
    {"mul_add_f64", "f64", "mul.rn.f64 %d, %a, %b; add.rn.f64 %d, %d, %c;", "DMUL"},
};

const Instruction& instruction_of(const Case& c) {
  for (const Instruction& instruction : kInstructions)
    if (c.name == instruction.name) return instruction;
  throw std::logic_error("a case of an unknown instruction");
}

// a, b and c of all threads, one after another; d of each thread.
KernelUse kernel(const Instruction& i, Target target) {
  const int bytes = i.type == std::string_view("f64") ? 8 : 4;
  std::string loop;
  for (int operand = 0; operand < 3; ++operand)
    loop += fmt::format("  ld.global.{} %{}, [%mine+{}];\n", i.type, "abc"[operand],
                        operand * kThreads * bytes);
  loop += fmt::format("  {}\n  st.global.{} [%result], %d;\n", i.text, i.type);
  return {.kernel = "single",
          .sass = {{i.opcode, 1, 1}},
          .ptx = ptx_text({.target = target,
                           .entry = "single",
                           .threads = kThreads,
                           .declarations = fmt::format(
                               "  .reg .{} %a, %b, %c, %d;\n  .reg .b64 %mine, %result;\n", i.type),
                           .setup = fmt::format("  mad.wide.u32 %mine, %thread, {0}, %in;\n"
                                                "  mad.wide.u32 %result, %thread, {0}, %out;\n",
                                                bytes),
                           .loop = loop})};
}

template <class T>
T unfused(T a, T b, T c) {
  const volatile T product = a * b;  // rounded, whatever the compiler may contract
  return product + c;
}

template <class T>
bool same_bits(T x, T y) {
  using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return std::bit_cast<U>(x) == std::bit_cast<U>(y);
}

template <class T>
void measure(State& s) {
  const GeneratedKernel kernel(s, "single", kThreads, std::size_t{3} * kThreads * sizeof(T),
                               kThreads * sizeof(T));
  std::mt19937_64 random(s.seed());
  std::uniform_real_distribution<T> spread(1, 2);
  constexpr std::size_t n = kThreads;
  std::vector<T> in(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    in[i] = spread(random);
    in[n + i] = spread(random);
    in[2 * n + i] = i % 4 ? -in[i] * in[n + i] : spread(random);
  }
  // Operands below all normal numbers and a sum of them, which is one too.
  const T small = std::numeric_limits<T>::denorm_min() * 12;
  in[0] = small;
  in[n] = 1;
  in[2 * n] = small;
  kernel.set_inputs(in);
  const std::vector<T> found = kernel.template outputs_after<T>(1);
  int fused = 0, separate = 0;
  for (std::size_t i = 1; i < n; ++i) {
    fused += same_bits(found[i], std::fma(in[i], in[n + i], in[2 * n + i]));
    separate += same_bits(found[i], unfused(in[i], in[n + i], in[2 * n + i]));
  }
  const bool kept = found[0] == 2 * small;
  s.add_exact("fused_agreement", "", Better::higher, fused / static_cast<double>(n - 1));
  s.add_exact("unfused_agreement", "", Better::higher, separate / static_cast<double>(n - 1));
  s.add_exact("subnormals_kept", "", Better::higher, kept);
  const char* what = fused == kThreads - 1      ? "fused, rounded once"
                     : separate == kThreads - 1 ? "the product is rounded, then the sum"
                                                : "neither fused nor unfused";
  s.set_param("finding",
              fmt::format("{}; subnormal numbers are {}", what, kept ? "kept" : "flushed to zero"));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Instruction& i : kInstructions)
    all.push_back({.name = i.name, .params = {{"a", i.type}}, .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "numerics/multiply_add",
    .question = "Is a multiply-add of the CUDA cores fused, and are subnormal numbers kept?",
    .metrics =
        {{"fused_agreement",
          "Share of results that a fused multiply-add on the CPU predicts to the last bit."},
         {"unfused_agreement",
          "Share of results that a rounded product plus a rounded sum predicts to the last bit."},
         {"subnormals_kept",
          "Whether subnormal operands and results are kept rather than made zero: 1 or 0."}},
    .cases = cases(),
    .kernels = [](const Case& c,
                  Target target) { return std::vector{kernel(instruction_of(c), target)}; },
    .run =
        [](State& s) {
          if (s.text("a") == "f64") return measure<double>(s);
          measure<float>(s);
        },
}};

}  // namespace

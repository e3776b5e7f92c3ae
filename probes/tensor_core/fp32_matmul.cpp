// SPDX-License-Identifier: Apache-2.0
// A product of f32 matrices three ways: FFMA, which every f32 matmul that is to be exact to f32
// runs as; tf32 on the tensor cores, which drops 13 of 23 fraction bits of the operands; and three
// tf32 products of operands split in two, a = hi + lo, of which lo * lo is left out (NVIDIA's
// "3xTF32", CUTLASS example 28). FLOP are those of the product asked for, once. Splitting is not in
// the loop: a kernel splits a tile once and uses it many times.
//
// max_error is how far a result over k = 128 is off, as a share of the sum of its products'
// magnitudes; 2^-24 = 6e-8 is one rounding to f32. FFMA's is of a chain of fused multiply-adds,
// computed on the CPU: IEEE 754 leaves it no choice.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "harness/element.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/instruction/row_probe.hpp"
#include "harness/limits.hpp"
#include "harness/ptx/descriptor/matrix_descriptor.hpp"
#include "probes/tensor_core/wgmma_operands.hpp"

namespace {

using namespace assay;

constexpr int kN = 128, kDepth = 32;          // of the tiles: 128 bytes along K
constexpr int kRepeats = 4, kWarpgroups = 2;  // how often a round of the loop takes the tiles
const WgmmaForm kForm{"tf32", "tf32", "f32", kN};

InstructionRow ffma() {
  return {.name = "ffma",
          .ptx = "fma.rn.f32 <d>, <d>, <a>, <b>;",
          .chain = {"d", "f32", "f32"},
          .inputs = {{"a", "f32", "f32"}, {"b", "f32", "f32"}},
          .step = [](double d, double a, double b, int) { return d * a + b; },
          .tolerance = 1e-5,
          .flop = 64,
          .sass =
              [](Target) {
                return std::vector<SassRule>{{"FFMA", 1, 1}};
              }};
}
constexpr KernelShape kFfmaShape{.warps = 16, .chains = 8, .unroll = 16};

// Parts of A and B that a term multiplies: 0 hi, 1 lo. Small ones first.
struct Term {
  int a, b;
};
std::vector<Term> terms_of(const Case& c) {
  if (c.name == "tf32") return {{0, 0}};
  return {{1, 0}, {0, 1}, {0, 0}};
}

// The tiles of hi, then of lo where there are three terms.
int tile_bytes(const std::vector<Term>& terms) {
  return kForm.tile_bytes() * (terms.size() > 1 ? 2 : 1);
}

KernelUse kernel_of(const std::vector<Term>& terms, Target target) {
  constexpr int kThreads = kWarpgroups * WgmmaForm::kWarpgroup;
  PtxKernel kernel{.target = target, .entry = "product", .threads = kThreads};
  kernel.declarations = fmt::format(
      "  .shared .align 1024 .b8 tile[{}];\n  .reg .b32 %d<{}>;\n  .reg .pred %add;\n"
      "  .reg .b32 %at, %tile;\n  .reg .b64 %from, %a<8>, %b<8>;\n",
      tile_bytes(terms), kForm.registers());
  kernel.setup = "  mov.u32 %tile, tile;\n" + load_tile(tile_bytes(terms), kThreads) +
                 "  mad.wide.u32 %out, %thread, 4, %out;\n"
                 "  setp.ne.u32 %add, 1, 0;\n"
                 "  shr.u32 %at, %tile, 4;\n  cvt.u64.u32 %from, %at;\n";
  std::string accumulators;
  for (int r = 0; r < kForm.registers(); ++r) {
    kernel.setup += fmt::format("  mov.b32 %d{}, %zero;\n", r);
    accumulators += fmt::format("{}%d{}", r ? ", " : "", r);
    kernel.finish += fmt::format("  @%first st.global.b32 [%out+{}], %d{};\n", r * kThreads * 4, r);
  }
  for (int part = 0; part < (terms.size() > 1 ? 2 : 1); ++part)
    for (int step = 0; step < kForm.steps(); ++step) {
      const auto at = static_cast<std::uint32_t>(part * kForm.tile_bytes() + step * 32);
      const std::uint64_t a = ptx::advance(ptx::encode_k_major_128b(0), at);
      kernel.setup += fmt::format("  add.u64 %a{0}, %from, {1};\n  add.u64 %b{0}, %from, {2};\n",
                                  part * kForm.steps() + step, a,
                                  ptx::advance(a, WgmmaForm::kRows * WgmmaForm::kRowBytes));
    }
  kernel.loop = "  wgmma.fence.sync.aligned;\n";
  for (int repeat = 0; repeat < kRepeats; ++repeat)
    for (int step = 0; step < kForm.steps(); ++step)
      for (const Term& term : terms)
        kernel.loop += kForm.ptx(accumulators, fmt::format("%a{}", term.a * kForm.steps() + step),
                                 fmt::format("%b{}", term.b * kForm.steps() + step), "");
  kernel.loop += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 1;\n";
  kernel.finish = "  wgmma.wait_group.sync.aligned 0;\n" + kernel.finish;
  const int count = kRepeats * kForm.steps() * static_cast<int>(terms.size());
  return {
      .kernel = kernel.entry, .sass = {{kForm.opcode(), count, count}}, .ptx = ptx_text(kernel)};
}

// Rows of 32 floats: 64 of A, then kN of B.
std::vector<float> random_rows(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> rows((WgmmaForm::kRows + kN) * kDepth);
  for (float& value : rows) value = normal(random);
  return rows;
}

float rounded_to_tf32(float value) {
  return static_cast<float>(unpack("tf32", pack("tf32", 32, value)));
}

std::vector<std::uint32_t> tiles(const std::vector<float>& rows, const std::vector<Term>& terms) {
  WgmmaOperands hi, lo;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool in_a = i < WgmmaForm::kRows * kDepth;
    const float high = rounded_to_tf32(rows[i]);
    const auto word = [](float v) { return static_cast<std::uint32_t>(pack("tf32", 32, v)); };
    (in_a ? hi.a : hi.b).push_back(word(high));
    (in_a ? lo.a : lo.b).push_back(word(rows[i] - high));
  }
  std::vector<std::uint32_t> words = hi.words(kForm);
  if (terms.size() > 1) {
    const std::vector<std::uint32_t> more = lo.words(kForm);
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

// The largest error of `result(row, column)`, of the tiles' product taken kRepeats times.
template <class F>
double max_error(const std::vector<float>& rows, const F& result) {
  double largest = 0;
  for (int row = 0; row < WgmmaForm::kRows; ++row)
    for (int column = 0; column < kN; ++column) {
      double exact = 0, magnitude = 0;
      for (int k = 0; k < kDepth; ++k) {
        const double product =
            static_cast<double>(rows[static_cast<std::size_t>(row * kDepth + k)]) *
            rows[static_cast<std::size_t>((WgmmaForm::kRows + column) * kDepth + k)];
        exact += kRepeats * product;
        magnitude += kRepeats * std::abs(product);
      }
      largest = std::max(largest, std::abs(result(row, column) - exact) / magnitude);
    }
  return largest;
}

double ffma_error(const std::vector<float>& rows) {
  return max_error(rows, [&](int row, int column) {
    float sum = 0;
    for (int k = 0; k < kRepeats * kDepth; ++k)
      sum = std::fma(
          rows[static_cast<std::size_t>(row * kDepth + k % kDepth)],
          rows[static_cast<std::size_t>((WgmmaForm::kRows + column) * kDepth + k % kDepth)], sum);
    return sum;
  });
}

void run_ffma(State& s) {
  s.cycles({.flop = 64.0 * kFfmaShape.warps * kFfmaShape.chains * kFfmaShape.unroll,
            .limit = limits::ffma()},
           prepare_row(s, ffma(), kFfmaShape, "ffma"));
  s.add_exact("max_error", "", Better::lower, ffma_error(random_rows(s.seed())));
}

void run_tensor(State& s) {
  const std::vector<Term> terms = terms_of(s.which());
  constexpr int kThreads = kWarpgroups * WgmmaForm::kWarpgroup;
  const GeneratedKernel loaded(s, "product", kThreads, static_cast<std::size_t>(tile_bytes(terms)),
                               static_cast<std::size_t>(kForm.registers() * kThreads) * 4);
  const std::vector<float> rows = random_rows(s.seed());
  loaded.set_inputs(tiles(rows, terms));
  std::vector<float> product(WgmmaForm::kRows * kN);
  const auto found = loaded.outputs_after<float>(1);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [row, column] =
        accumulator_place(static_cast<int>(i) / kThreads, static_cast<int>(i) % kThreads);
    product[static_cast<std::size_t>(row * kN + column)] = found[i];
  }
  const double error = max_error(rows, [&](int row, int column) {
    return product[static_cast<std::size_t>(row * kN + column)];
  });
  // Two operands are each off by 2^-11 at most (relative), or what is left out is 2^-22; and sums
  // of 16 or 48 instructions lose a few units of 2^-23 each.
  const double bound = terms.size() > 1 ? 0x1p-22 + 48 * 0x1p-21 : 0x1p-10 + 16 * 0x1p-21;
  s.require(error <= bound, fmt::format("an element is {} off, more than {}", error, bound));
  const Limit tf32 = kForm.limit(s.target());
  const auto count = static_cast<double>(terms.size());
  s.cycles({.flop = kForm.flop() * kForm.steps() * kRepeats * kWarpgroups,
            .limit = {tf32.value / count,
                      terms.size() > 1 ? "a third of tf32's; " + tf32.source : tf32.source}},
           loaded.on_every_sm());
  s.add_exact("max_error", "", Better::lower, error);
}

Case tensor_case(const char* name) {
  return {.name = name,
          .params = {{"a", name}, {"b", name}, {"accumulate", "f32"}, {"state", "burst"}},
          .targets = targets_with(Feature::wgmma),
          .suite = Suite::full};
}

const Registration registration{{
    .name = "tensor_core/fp32_matmul",
    .question = "How fast is a product of f32 matrices on the FP32 pipe, in tf32 and in three tf32 "
                "products, and how exact is each?",
    .metrics = {{"max_error",
                 "Largest error of a result over k = 128, as a share of the sum of its products' "
                 "magnitudes."}},
    .cases = {{.name = "ffma",
               .params = {{"a", "f32"}, {"b", "f32"}, {"accumulate", "f32"}, {"state", "burst"}},
               .suite = Suite::full},
              tensor_case("tf32"),
              tensor_case("tf32x3")},
    .kernels =
        [](const Case& c, Target target) {
          KernelUse use = c.name == "ffma" ? row_kernel(ffma(), kFfmaShape, "ffma", target)
                                           : kernel_of(terms_of(c), target);
          return std::vector<KernelUse>{std::move(use)};
        },
    .run = [](State& s) { s.which().name == "ffma" ? run_ffma(s) : run_tensor(s); },
}};

}  // namespace

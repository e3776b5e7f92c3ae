// SPDX-License-Identifier: Apache-2.0
// How the error of a long dot product grows with K: added up by the MMA itself, or every four steps
// by the CUDA cores in f32.
//
// The question comes from fp8 on Hopper, whose accumulators keep few bits: DeepSeek-V3 promotes
// partial sums every 128 elements, four wgmma (arXiv:2412.19437, section 3.3.2). Each element of D
// is a dot product of its own; the error of all of them is sqrt(sum (d - exact)^2 / sum exact^2),
// exact in float64. Data: uniform in (-1, 1), where sums grow with the square root of K, and in (0,
// 1), where they grow with K and small products come to nothing beside them. Beside both stands one
// rounded addition after another on the CPU. f16 accumulators are not promoted.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <random>

#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "probes/numerics/block_layout.hpp"

namespace assay::numerics {
namespace {

constexpr int kGreatestK = 16384;
constexpr int kPromotionSteps = 4;

std::vector<MmaInstruction> instructions() {
  std::vector<MmaInstruction> all;
  struct Type {
    const char *element, *accumulator;
    int k;
  };
  for (const Type& type : {Type{"f16", "f32", 16},
                           {"f16", "f16", 16},
                           {"bf16", "f32", 16},
                           {"tf32", "f32", 8},
                           {"e4m3", "f32", 32},
                           {"e5m2", "f32", 32}}) {
    all.push_back({Family::mma_sync, type.element, type.accumulator, 16, 8, type.k});
    all.push_back({Family::wgmma, type.element, type.accumulator, 64, 8, type.k, false});
    if (type.accumulator == std::string("f16")) continue;
    all.push_back({Family::tcgen05, type.element, type.accumulator, 128, 16, type.k, false});
  }
  return all;
}

const MmaInstruction& instruction_of(const Case& c) {
  static const std::vector<MmaInstruction> all = instructions();
  for (const MmaInstruction& instruction : all)
    if (instruction.type_name() == c.name) return instruction;
  throw std::logic_error("a case of an unknown instruction");
}

bool can_promote(const MmaInstruction& i) { return i.accumulator == "f32"; }

// One MMA in each round of the loop; what has been added up so far is stored after it. Promoted,
// the accumulators go to the sums after every fourth round and start again from zero.
KernelUse kernel(const MmaInstruction& i, bool promoted, Target target) {
  const MmaPtx ptx{i};
  const int sums = i.fragment(Operand::d).registers;
  std::string declarations = ptx.declarations(), setup = ptx.setup() + ptx.zero_c();
  std::string loop = ptx.load_operands() + ptx.multiply() + ptx.next_block(ptx.operand_bytes());
  if (promoted) {
    declarations += fmt::format("  .reg .pred %due;\n  .reg .b32 %step, %sum<{}>;\n", sums);
    setup += "  mov.u32 %step, 0;\n";
    loop += fmt::format(
        "  add.u32 %step, %step, 1;\n"
        "  setp.eq.u32 %due, %step, {};\n"
        "  @%due mov.u32 %step, 0;\n",
        kPromotionSteps);
    for (int r = 0; r < sums; ++r) {
      setup += fmt::format("  mov.b32 %sum{}, 0;\n", r);
      loop += fmt::format(
          "  @%due add.rn.f32 %sum{0}, %sum{0}, %d{0};\n"
          "  @%due mov.b32 %d{0}, 0;\n",
          r);
    }
  }
  loop += ptx.store_d(promoted ? "sum" : "d") + ptx.next_result();
  const char* entry = promoted ? "promoted" : "in_mma";
  std::vector<SassRule> rules = sass_rules(i, target, 1);
  if (promoted) rules.push_back({"FADD", sums});
  return {.kernel = entry,
          .sass = rules,
          .ptx = ptx_text({.target = target,
                           .entry = entry,
                           .threads = i.threads(),
                           .declarations = declarations,
                           .setup = setup,
                           .loop = loop,
                           .finish = ptx.finish()}),
          .emulated = emulated(i, target)};
}

// A (M x K) and B (K x N) of the whole length, as values and as the blocks of each step.
struct Matrices {
  std::vector<float> a, b;  // [k][row], [k][column]
  std::vector<std::byte> blocks;
};

Matrices random_matrices(const MmaInstruction& i, double least, std::uint64_t seed) {
  const FloatFormat format = float_format(i.element);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> spread(least, 1);
  const BlockLayout layout(i);
  const auto bytes = static_cast<std::size_t>(MmaPtx{i}.operand_bytes());
  Matrices all;
  all.blocks.resize(bytes * static_cast<std::size_t>(kGreatestK / i.k));
  for (int k = 0; k < kGreatestK; ++k) {
    const std::span block(all.blocks.data() + bytes * static_cast<std::size_t>(k / i.k), bytes);
    for (int row = 0; row < i.m; ++row) {
      const Bits bits = encode(format, spread(random));
      layout.put(block, Operand::a, {row, k % i.k}, bits);
      all.a.push_back(static_cast<float>(value(format, bits)));
    }
    for (int column = 0; column < i.n; ++column) {
      const Bits bits = encode(format, spread(random));
      layout.put(block, Operand::b, {k % i.k, column}, bits);
      all.b.push_back(static_cast<float>(value(format, bits)));
    }
  }
  return all;
}

// D after the first k, for each k asked for: [k][row][column].
template <class Sum>
std::vector<std::vector<double>> dot_products(const MmaInstruction& i, const Matrices& matrices,
                                              const std::vector<int>& ks) {
  const auto m = static_cast<std::size_t>(i.m), n = static_cast<std::size_t>(i.n);
  std::vector<Sum> sums(m * n, 0);
  std::vector<std::vector<double>> found;
  for (std::size_t k = 0; k < static_cast<std::size_t>(kGreatestK); ++k) {
    for (std::size_t row = 0; row < m; ++row)
      for (std::size_t column = 0; column < n; ++column)  // products are exact in float
        sums[row * n + column] += matrices.a[k * m + row] * matrices.b[k * n + column];
    if (found.size() < ks.size() && static_cast<int>(k) + 1 == ks[found.size()])
      found.emplace_back(sums.begin(), sums.end());
  }
  return found;
}

std::vector<std::vector<double>> run_on_gpu(const GeneratedKernel& kernel, const MmaInstruction& i,
                                            const Matrices& matrices, const std::vector<int>& ks) {
  kernel.set_inputs(matrices.blocks);
  const auto out = kernel.outputs_after<std::byte>(kGreatestK / i.k);
  const FloatFormat format = float_format(i.accumulator);
  const BlockLayout layout(i);
  const auto bytes = static_cast<std::size_t>(MmaPtx{i}.result_bytes());
  std::vector<std::vector<double>> found;
  for (const int k : ks) {
    const std::span result(out.data() + bytes * static_cast<std::size_t>(k / i.k - 1), bytes);
    std::vector<double>& d = found.emplace_back();
    for (int row = 0; row < i.m; ++row)
      for (int column = 0; column < i.n; ++column)
        d.push_back(value(format, layout.get(result, {row, column})));
  }
  return found;
}

double relative_error(const std::vector<double>& found, const std::vector<double>& exact) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += (found[i] - exact[i]) * (found[i] - exact[i]);
    size += exact[i] * exact[i];
  }
  return std::sqrt(error / size);
}

void run(State& s) {
  const MmaInstruction& i = instruction_of(s.which());
  std::vector<int> ks;
  std::vector<Value> points;
  for (int k = kPromotionSteps * i.k; k <= kGreatestK; k *= 2) {
    ks.push_back(k);
    points.emplace_back(std::int64_t{k});
  }
  const MmaPtx ptx{i};
  const auto steps = static_cast<std::size_t>(kGreatestK / i.k);
  const std::size_t in_bytes = steps * static_cast<std::size_t>(ptx.operand_bytes());
  const std::size_t out_bytes = steps * static_cast<std::size_t>(ptx.result_bytes());
  std::vector<std::pair<std::string, GeneratedKernel>> kernels;
  for (const char* entry : {"in_mma", "promoted"})
    if (entry == std::string("in_mma") || can_promote(i))
      kernels.emplace_back(entry, GeneratedKernel(s, entry, i.threads(), in_bytes, out_bytes));

  std::map<std::string, double> last;  // errors at the greatest K
  for (const auto& [data, least] : {std::pair{"uniform", -1.0}, {"positive", 0.0}}) {
    const Matrices matrices = random_matrices(i, least, s.seed());
    const auto exact = dot_products<double>(i, matrices, ks);
    const auto record = [&](const std::string& variant,
                            const std::vector<std::vector<double>>& found) {
      std::vector<double> errors;
      for (std::size_t at = 0; at < ks.size(); ++at)
        errors.push_back(relative_error(found[at], exact[at]));
      s.require(errors.front() < 0.1, fmt::format("{} {} sums of {} products are off by {}", data,
                                                  variant, ks.front(), errors.front()));
      last[variant] = errors.back();
      s.add_series({.name = fmt::format("relative_error_{}_{}", data, variant),
                    .unit = "",
                    .axes = {{"k", points}},
                    .values = std::move(errors)});
    };
    for (const auto& [variant, kernel] : kernels)
      record(variant, run_on_gpu(kernel, i, matrices, ks));
    record("float32", dot_products<float>(i, matrices, ks));
  }
  if (can_promote(i))
    s.add_exact("promotion_gain", "", Better::higher, last["in_mma"] / last["promoted"]);
  for (const auto& [variant, error] : last)
    s.add_exact(fmt::format("relative_error_positive_{}", variant), "", Better::lower, error);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const MmaInstruction& i : instructions())
    all.push_back({.name = i.type_name(),
                   .params = {{"a", i.element},
                              {"b", i.element},
                              {"accumulate", i.accumulator},
                              {"shape", i.shape()},
                              {"promotion_steps", std::int64_t{kPromotionSteps}}},
                   .targets = targets_of(i),
                   .suite = Suite::full});
  return all;
}

const Registration registration{{
    .name = "numerics/error_growth",
    .question = "How does the error of an MMA's dot products grow with K, with partial sums "
                "promoted to f32 every four steps and without?",
    .metrics =
        {{"relative_error_uniform_in_mma",
          "Error of dot products over K, data uniform in (-1, 1), added up by the MMA alone."},
         {"relative_error_uniform_promoted",
          "Error over K, data uniform in (-1, 1), partial sums added in f32 after every four "
          "MMAs."},
         {"relative_error_uniform_float32",
          "Error over K, data uniform in (-1, 1), every product added in f32 on the CPU, to "
          "compare with."},
         {"relative_error_positive_in_mma",
          "Error over K, data uniform in (0, 1), added up by the MMA alone; the figure is at the "
          "greatest K."},
         {"relative_error_positive_promoted",
          "Error over K, data uniform in (0, 1), partial sums added in f32 after every four MMAs."},
         {"relative_error_positive_float32",
          "Error over K, data uniform in (0, 1), every product added in f32 on the CPU, to compare "
          "with."},
         {"promotion_gain",
          "Error of positive data in the MMA alone over that with promotion, at the greatest K."}},
    .cases = cases(),
    .kernels =
        [](const Case& c, Target target) {
          const MmaInstruction& i = instruction_of(c);
          std::vector<KernelUse> uses{kernel(i, false, target)};
          if (can_promote(i)) uses.push_back(kernel(i, true, target));
          return uses;
        },
    .run = run,
}};

}  // namespace
}  // namespace assay::numerics

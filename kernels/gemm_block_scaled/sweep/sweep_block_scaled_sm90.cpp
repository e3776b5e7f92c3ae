// SPDX-License-Identifier: Apache-2.0
// Times every form of the Hopper block-scaled product beside cuBLASLt's candidates: what its choice
// of a form rests on.
//
//   assay_block_scaled_sweep OUT.csv [MILLISECONDS] [--shapes FILE]
//
// A line of OUT.csv is the shape, the form, its median ns, how many samples that is of, and 1 if a
// call without options takes it. All take turns in random order on inputs that rotate beyond L2.
// Each result is checked first. Shapes are those of the suite, or a line each of FILE: "4096 7168
// 16384", m, n and k. With --rest each sample is one call after so many milliseconds of rest, a
// burst as the suite's cases are: without, the GPU is at its power limit. With --bands 2,4 each
// form is timed with its tiles in bands of so many rows too (Raster). Where a form may split its
// tiles, so it does too.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "kernels/baselines/baseline.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/frame/operand_sets.hpp"
#include "kernels/gemm/sweep/sweep_command.hpp"
#include "kernels/gemm/sweep/turns.hpp"
#include "kernels/gemm_block_scaled/operands.hpp"
#include "kernels/gemm_block_scaled/reference.hpp"
#include "kernels/gemm_block_scaled/shapes.hpp"
#include "kernels/gemm_block_scaled/sm90/plan_sm90.hpp"

namespace assay::kernels {
namespace {

void sweep(const BlockScaledProblem& p, double milliseconds, const std::vector<int>& bands,
           std::chrono::milliseconds rest, FILE* out) {
  const Stream stream;
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  const std::vector<Operand> layout = block_scaled_operands(p);
  std::size_t bytes = 0;
  for (const Operand& operand : layout) bytes += operand.bytes;
  const int sets = sets_beyond_l2(static_cast<std::uint64_t>(device.l2CacheSize), bytes);
  std::vector<Buffer> buffers;
  std::vector<BlockScaledOperands> operands;
  std::uint64_t seed = 0;
  for (int set = 0; set < sets; ++set) {
    std::vector<void*> at;
    for (const Operand& operand : layout) {
      at.push_back(buffers.emplace_back(operand.bytes).data());
      if (operand.fill) operand.fill(at.back(), seed++, stream);
    }
    operands.push_back(block_scaled_operands_of(at));
  }

  std::vector<Entry> entries;
  std::unique_ptr<Baseline> library;
  try {
    library = open_block_scaled_cublaslt(p, operands);
    for (int i = 0; i < library->candidates(); ++i)
      entries.push_back(
          {fmt::format("cublaslt_{}", i), [&, i](int set) { library->run(i, set, stream); }});
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  const auto add = [&](const std::string& name, const BlockScaledOptionsSm90& options) {
    std::vector<Plan> plans;
    for (const BlockScaledOperands& set : operands)
      plans.push_back(plan_gemm_block_scaled_sm90(p, set, options));
    entries.push_back({name, [plans, &stream](int set) mutable {
                         plans[static_cast<std::size_t>(set)].run(stream);
                       }});
  };
  for (const BlockScaledVariantSm90& v : block_scaled_variants_sm90()) {
    add(v.name, {.variant = &v});
    for (const int band : bands)
      add(fmt::format("{} band {}", v.name, band), {.variant = &v, .band = band});
    for (const int parts : parts_of_block_scaled_sm90(v, p))
      add(fmt::format("{} split {}", v.name, parts), {.variant = &v, .parts = parts});
  }
  for (Entry& entry : entries) {
    poison(operands[0].d, layout[0].bytes, stream);
    entry.run(0);
    const GemmErrors errors = check_gemm_block_scaled(p, operands[0], 1 << 12, 1, stream);
    entry.out = !errors.right();
    if (entry.out)
      std::fprintf(stderr, "%s %s: %s\n", p.text().c_str(), entry.name.c_str(),
                   errors.describe().c_str());
  }
  take_turns(entries, sets, static_cast<std::uint32_t>(p.m + p.n + p.k), milliseconds, stream, 1,
             rest);
  const std::string chosen = plan_gemm_block_scaled_sm90(p, operands[0]).variant;
  for (const Entry& entry : entries)
    if (!entry.ns.empty())
      fmt::print(out, "{},{},{:.0f},{},{:d}\n", p.text(), entry.name, entry.median(),
                 entry.ns.size(), entry.name == chosen);
  std::fflush(out);
}

}  // namespace
}  // namespace assay::kernels

int main(int argc, char** argv) {
  using namespace assay;
  constexpr const char* kColumns = "shape,form,ns,samples,chosen";
  CLI::App app("Times every form of the Hopper block-scaled product beside cuBLASLt's candidates",
               "assay_block_scaled_sweep");
  kernels::SweepOptions options{.milliseconds = 100};
  options.add_to(app, kColumns);
  std::string shapes_path;
  std::vector<int> bands;
  app.add_option("--shapes", shapes_path, "A line each: 4096 7168 16384 (default: the suite's)")
      ->check(CLI::ExistingFile);
  app.add_option("--bands", bands, "Each form also with its tiles in bands of so many rows")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  return kernels::run_sweep(app, argc, argv, options, kColumns, [&](FILE* out) {
    std::vector<kernels::BlockScaledProblem> problems;
    if (shapes_path.empty())
      for (const kernels::BlockScaledShape& shape : kernels::block_scaled_shapes())
        problems.push_back({.m = shape.m, .n = shape.n, .k = shape.k});
    std::ifstream shapes(shapes_path);
    for (std::string line; std::getline(shapes, line);) {
      std::istringstream words(line);
      kernels::BlockScaledProblem problem{};
      if (words >> problem.m >> problem.n >> problem.k) problems.push_back(problem);
    }
    for (const kernels::BlockScaledProblem& problem : problems)
      kernels::sweep(problem, options.milliseconds, bands, options.pause(), out);
  });
}

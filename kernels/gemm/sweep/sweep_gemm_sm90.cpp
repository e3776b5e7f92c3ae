// SPDX-License-Identifier: Apache-2.0
// Times every choice of the Hopper matrix product for a list of shapes, beside cuBLASLt's
// candidates: what the model of its time (time_model_sm90.cpp) is fitted on.
//
//   assay_gemm_sweep SHAPES OUT.csv [MILLISECONDS] [CHOICES]
//
// A line of SHAPES is "bf16 nt 4096 4096 4096": type, layout, m, n, k; and, if it is not "none",
// what follows the sum ("bias_gelu", contest.hpp). 8-bit types have a factor for each operand. A
// line of OUT.csv is the shape, the choice, its median ns and how many samples that is of. All take
// turns in random order on inputs that rotate beyond L2; who falls behind leaves (turns.hpp). Each
// result is checked first. MILLISECONDS bounds the time of a shape, 50 if not given.
//
// CHOICES: only so many, those that the model of the time likes best and "taken" before the name of
// its favourite; and all again in rows of calls without a pause ("... x12": of twelve), where a
// kernel that is launched early begins while the one before it ends. With --rest 50 each sample is
// one call from rest, a burst as the cases of kernels/gemm have them, and the shape's name ends in
// "rest 50": without, the largest products bring the GPU to its power limit, where another choice
// may be the best. With --cold each sample is one call that finds neither its code nor its operands
// in a cache, as in a program that runs many kernels, and the shape's name ends in "cold". With
// --bands 1,2,16 each choice is timed with its tiles in bands of so many rows too (Raster):
// "... band 16".
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/element.hpp"
#include "harness/error.hpp"
#include "harness/measure/busy_timer.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/frame/operand_sets.hpp"
#include "kernels/gemm/contest.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"
#include "kernels/gemm/sweep/cold_caches.hpp"
#include "kernels/gemm/sweep/sweep_command.hpp"
#include "kernels/gemm/sweep/turns.hpp"

namespace assay::kernels {
namespace {

// Each choice as it is, then with its tiles in bands of so many rows.
std::vector<GemmChoiceSm90> in_orders(const GemmProblem& problem,
                                      const std::vector<GemmChoiceSm90>& choices,
                                      const std::vector<int>& bands) {
  std::vector<GemmChoiceSm90> all = choices;
  for (const GemmChoiceSm90& choice : choices) {
    const GemmVariantSm90& v = *choice.variant;
    const int rows = divide_up(v.swapped ? problem.n : problem.m, v.tile_m * v.cluster_m);
    std::set<int> others;  // more rows than there are make no other order
    for (const int band : bands) others.insert(std::min(band, rows));
    others.erase(std::min(choice.band, rows));
    for (const int band : others) {
      all.push_back(choice);
      all.back().band = band;
    }
  }
  return all;
}

// The model's best choices, its favourite first. 0: all there are, as they come.
std::vector<GemmChoiceSm90> choices_of(const GemmProblem& problem, int most,
                                       const std::vector<int>& bands) {
  std::vector<GemmChoiceSm90> all = gemm_choices_sm90(problem, clusters_here_sm90);
  if (most == 0) return in_orders(problem, all, bands);
  std::ranges::stable_sort(all, {}, [&](const GemmChoiceSm90& choice) {
    return predicted_cycles_sm90(problem, choice);
  });
  all.resize(std::min(all.size(), static_cast<std::size_t>(most)));
  return in_orders(problem, all, bands);
}

// Rotating sets of operands.
class Sets {
 public:
  Sets(const GemmOperandLayout& layout, cudaStream_t stream) {
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    std::size_t bytes = 0;
    for (const Operand& operand : layout.operands()) bytes += operand.bytes;
    std::uint64_t seed = 0;
    for (int left = sets_beyond_l2(static_cast<std::uint64_t>(device.l2CacheSize), bytes); left > 0;
         --left) {
      std::vector<void*> set;
      for (const Operand& operand : layout.operands()) {
        set.push_back(buffers_.emplace_back(operand.bytes).data());
        if (operand.fill) operand.fill(set.back(), seed++, stream);
      }
      operands_.push_back(layout.of(set));
    }
  }
  const std::vector<GemmOperands>& operands() const { return operands_; }

 private:
  std::vector<Buffer> buffers_;
  std::vector<GemmOperands> operands_;
};

int calls_of_a_turn(const std::vector<Entry>& entries) {
  double best = 1e300;
  for (const Entry& entry : entries)
    if (!entry.ns.empty()) best = std::min(best, entry.median());
  return std::clamp(assay::calls_in_a_row(best), 2, 20);
}

void sweep(const GemmProblem& problem, const std::string& line, double milliseconds, int most,
           const std::vector<int>& bands, std::chrono::milliseconds rest, ColdCaches* cold,
           FILE* out) {
  const Stream stream;
  const Sets sets(GemmOperandLayout(problem), stream);
  const std::vector<GemmOperands>& operands = sets.operands();
  std::vector<Entry> entries;
  std::unique_ptr<Baseline> library;
  try {
    library = open_cublaslt(problem, operands);
    for (int i = 0; i < library->candidates(); ++i)
      entries.push_back(
          {fmt::format("cublaslt_{}", i), [&, i](int set) { library->run(i, set, stream); }});
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  bool taken = most > 0;
  for (const GemmChoiceSm90& choice : choices_of(problem, most, bands)) {
    std::vector<Plan> plans;
    for (const GemmOperands& set : operands) plans.push_back(plan_gemm_sm90(problem, set, choice));
    entries.push_back({(taken ? "taken " : "") + choice.text(), [plans, &stream](int set) mutable {
                         plans[static_cast<std::size_t>(set)].run(stream);
                       }});
    taken = false;
  }
  constexpr std::uint64_t kChecked = 1 << 12;  // results: more would take longer than the timing
  const std::size_t bytes_d = static_cast<std::size_t>(problem.m) *
                              static_cast<std::size_t>(problem.n) *
                              static_cast<std::size_t>(element_bits(problem.d_type())) / 8;
  for (Entry& entry : entries) {
    poison(operands[0].d, bytes_d, stream);
    entry.run(0);
    const std::string wrong = find_error(problem, operands[0], 1, stream, kChecked);
    entry.out = !wrong.empty();
    if (entry.out)
      std::fprintf(stderr, "%s %s: %s\n", line.c_str(), entry.name.c_str(), wrong.c_str());
  }

  std::erase_if(entries, [](const Entry& entry) { return entry.out; });
  for (const bool rows : {false, true}) {
    if (rows && (most == 0 || rest.count() > 0 || cold)) break;
    const int calls = rows ? calls_of_a_turn(entries) : 1;
    for (Entry& entry : entries) {
      entry.ns.clear();
      entry.out = false;
    }
    take_turns(entries, static_cast<int>(operands.size()),
               static_cast<std::uint32_t>(problem.m + problem.n + problem.k), milliseconds, stream,
               calls, rest, cold ? Callable<void()>([&] { cold->make(stream); }) : nullptr);
    for (const Entry& entry : entries) {
      if (entry.ns.empty()) continue;
      fmt::print(out, "{},{}{},{:.0f},{}\n", line, entry.name,
                 calls > 1 ? fmt::format(" x{}", calls) : "", entry.median(), entry.ns.size());
    }
  }
  std::fflush(out);
}

}  // namespace
}  // namespace assay::kernels

int main(int argc, char** argv) {
  using namespace assay;
  constexpr const char* kColumns = "shape,choice,ns,samples";
  CLI::App app("Times every choice of the Hopper matrix product beside cuBLASLt's candidates",
               "assay_gemm_sweep");
  kernels::SweepOptions options{.milliseconds = 50};
  std::string shapes_path;
  int most = 0;
  std::vector<int> bands;
  app.add_option("SHAPES", shapes_path, "A line each: bf16 nt 4096 4096 4096 [EPILOGUE]")
      ->required()
      ->check(CLI::ExistingFile);
  options.add_to(app, kColumns);
  app.add_option("CHOICES", most, "Only so many, those said to be fastest; 0 is all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--bands", bands, "Each choice also with its tiles in bands of so many rows")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  bool cold = false;
  app.add_flag("--cold", cold, "Neither code nor operands of a call are in a cache");
  return kernels::run_sweep(app, argc, argv, options, kColumns, [&](FILE* out) {
    std::ifstream shapes(shapes_path);
    std::unique_ptr<kernels::ColdCaches> caches;
    if (cold) caches = std::make_unique<kernels::ColdCaches>();
    for (std::string line; std::getline(shapes, line);) {
      std::istringstream words(line);
      kernels::GemmProblem problem{};
      if (!(words >> problem.type >> problem.layout >> problem.m >> problem.n >> problem.k))
        continue;
      if (std::string epilogue; words >> epilogue)
        problem = kernels::with_epilogue(problem, epilogue);
      if (element_bits(problem.type) == 8) {
        problem.type_d = "bf16";
        problem.scaling = kernels::Scaling::tensor;
      }
      if (options.rest > 0) line += fmt::format(" rest {}", options.rest);
      if (cold) line += " cold";
      kernels::sweep(problem, line, options.milliseconds, most, bands, options.pause(),
                     caches.get(), out);
    }
  });
}

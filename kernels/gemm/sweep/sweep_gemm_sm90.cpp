// SPDX-License-Identifier: Apache-2.0
// Times every choice of the Hopper matrix product for a list of shapes, beside cuBLASLt's
// candidates: what the model of its time (time_model_sm90.cpp) is fitted on.
//
//   assay_gemm_sweep SHAPES OUT.csv [MILLISECONDS] [chosen]
//
// A line of SHAPES is "bf16 nt 4096 4096 4096": type, layout, m, n, k. A line of OUT.csv is the
// shape, the choice, its median ns and how many samples that is of. All take turns in random order
// on inputs that rotate beyond L2; who falls behind leaves (turns.hpp). Each result is checked
// first. MILLISECONDS bounds the time of a shape, 50 if not given.
//
// "chosen": of the choices only the one that the model takes, and all again in rows of 20 calls
// ("... x20"), where a kernel that is launched early begins while the one before it ends.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/element.hpp"
#include "harness/error.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/frame/operand_sets.hpp"
#include "kernels/gemm/contest.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"
#include "kernels/gemm/sweep/turns.hpp"

namespace assay::kernels {
namespace {

void sweep(const GemmProblem& problem, const std::string& line, double milliseconds, bool chosen,
           FILE* out) {
  const Stream stream;
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  const auto count = [](int x, int y) {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(y);
  };
  const auto bytes = [](std::size_t elements, const std::string& type) {
    return elements * static_cast<std::size_t>(element_bits(type)) / 8;
  };
  const std::size_t of_a = count(problem.m, problem.k), of_b = count(problem.n, problem.k);
  const std::size_t bytes_d = bytes(count(problem.m, problem.n), problem.d_type());
  const std::size_t bytes_of_set =
      bytes(of_a, problem.type) + bytes(of_b, problem.b_type()) + bytes_d;
  const int sets = sets_beyond_l2(static_cast<std::uint64_t>(device.l2CacheSize), bytes_of_set);
  std::vector<Buffer> buffers;
  std::vector<GemmOperands> operands;
  for (int set = 0; set < sets; ++set) {
    Buffer a(bytes(of_a, problem.type)), b(bytes(of_b, problem.b_type())), d(bytes_d);
    fill_normal(problem.type, a.data(), of_a, 2 * static_cast<std::uint64_t>(set), stream);
    fill_normal(problem.b_type(), b.data(), of_b, 2 * static_cast<std::uint64_t>(set) + 1, stream);
    operands.push_back({.d = d.data(), .a = a.data(), .b = b.data()});
    for (Buffer* buffer : {&a, &b, &d}) buffers.push_back(std::move(*buffer));
  }

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
  const std::vector<GemmChoiceSm90> choices = chosen
                                                  ? std::vector{choose_gemm_here_sm90(problem)}
                                                  : gemm_choices_sm90(problem, clusters_here_sm90);
  for (const GemmChoiceSm90& choice : choices) {
    std::vector<Plan> plans;
    for (const GemmOperands& set : operands) plans.push_back(plan_gemm_sm90(problem, set, choice));
    entries.push_back({choice.text(), [plans, &stream](int set) mutable {
                         plans[static_cast<std::size_t>(set)].run(stream);
                       }});
  }
  constexpr std::uint64_t kChecked = 1 << 12;  // results: more would take longer than the timing
  for (Entry& entry : entries) {
    poison(operands[0].d, bytes_d, stream);
    entry.run(0);
    const std::string wrong = find_error(problem, operands[0], 1, stream, kChecked);
    entry.out = !wrong.empty();
    if (entry.out)
      std::fprintf(stderr, "%s %s: %s\n", line.c_str(), entry.name.c_str(), wrong.c_str());
  }

  std::erase_if(entries, [](const Entry& entry) { return entry.out; });
  constexpr int kRow = 20;
  for (const int calls : {1, kRow}) {
    if (calls > 1 && !chosen) break;
    for (Entry& entry : entries) {
      entry.ns.clear();
      entry.out = false;
    }
    take_turns(entries, sets, static_cast<std::uint32_t>(problem.m + problem.n + problem.k),
               milliseconds * calls, stream, calls);
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
  if (argc < 3) {
    std::fprintf(stderr, "assay_gemm_sweep: SHAPES OUT.csv [MILLISECONDS] [chosen]\n");
    return static_cast<int>(ExitCode::usage);
  }
  std::ifstream shapes(argv[1]);
  FILE* const out = std::fopen(argv[2], "w");
  if (!shapes || !out) {
    std::fprintf(stderr, "assay_gemm_sweep: cannot open %s\n", shapes ? argv[2] : argv[1]);
    return static_cast<int>(ExitCode::usage);
  }
  fmt::print(out, "shape,choice,ns,samples\n");
  try {
    for (std::string line; std::getline(shapes, line);) {
      std::istringstream words(line);
      kernels::GemmProblem problem{};
      if (!(words >> problem.type >> problem.layout >> problem.m >> problem.n >> problem.k))
        continue;
      if (element_bits(problem.type) == 8) problem.type_d = "bf16";
      kernels::sweep(problem, line, argc > 3 ? std::strtod(argv[3], nullptr) : 50,
                     argc > 4 && std::string(argv[4]) == "chosen", out);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "assay_gemm_sweep: %s\n", error.what());
    return static_cast<int>(error.code());
  }
  return std::fclose(out);
}

// SPDX-License-Identifier: Apache-2.0
// Times every form of the grouped products on the shapes of kernels/grouped, beside a loop of
// cuBLASLt and what the model of their time (choose_sm90.cpp) says.
//
//   assay_grouped_sweep OUT.csv [MILLISECONDS] [--shapes FILE] [--type e4m3_block128]
//
// A line of OUT.csv is the shape, the form, its median ns, how many samples that is of, the model's
// cycles, and 1 if the model chooses it. All take turns in random order on inputs that rotate
// beyond L2. Each result is checked first. MILLISECONDS bounds the time of a shape, 200 if not
// given. Shapes are those of the suite, or a line each of FILE: "contiguous 8 8192 0 4096 7168 1"
// is the grouping, how many groups, rows, rows used of a masked group, n, k, and 1 if the groups'
// sizes are uneven. With --rest each sample is one call after so many milliseconds of rest, a burst
// as the cases of kernels/grouped have them: without, the GPU is at its power limit.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/error.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/frame/operand_sets.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"
#include "kernels/gemm/sweep/sweep_command.hpp"
#include "kernels/gemm/sweep/turns.hpp"
#include "kernels/grouped/cublaslt_loop.hpp"
#include "kernels/grouped/operands.hpp"
#include "kernels/grouped/reference.hpp"
#include "kernels/grouped/shapes.hpp"
#include "kernels/grouped/sm90/plan_sm90.hpp"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

void sweep(const GroupedShape& shape, const std::string& type, double milliseconds,
           std::chrono::milliseconds rest, FILE* out) {
  const GroupedProblem p{shape.grouping, type, shape.groups, shape.rows, shape.n, shape.k};
  const Stream stream;
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  const std::vector<Operand> layout = grouped_operands(p, sizes_of_groups(shape));
  std::size_t bytes = 0;
  for (const Operand& operand : layout) bytes += operand.bytes;
  const int sets = sets_beyond_l2(static_cast<std::uint64_t>(device.l2CacheSize), bytes);
  std::vector<Buffer> buffers;
  std::vector<GroupedOperands> operands;
  std::uint64_t seed = 0;
  for (int set = 0; set < sets; ++set) {
    std::vector<void*> at;
    for (const Operand& operand : layout) {
      at.push_back(buffers.emplace_back(operand.bytes).data());
      if (operand.fill) operand.fill(at.back(), seed++, stream);
    }
    operands.push_back(grouped_operands_of(at));
  }

  const std::vector<int> rows_of_group = rows_of_groups(shape);
  std::vector<Entry> entries;
  std::map<std::string, double> cycles;  // of the library, and of e4m3, the model says none
  const auto add = [&](const std::string& name, const auto& plan) {
    std::vector<Plan> plans;
    for (const GroupedOperands& set : operands) plans.push_back(plan(set));
    entries.push_back({name, [plans, &stream](int set) mutable {
                         plans[static_cast<std::size_t>(set)].run(stream);
                       }});
  };
  std::optional<CublasLtLoop> loop;
  std::string chosen;
  if (type == "bf16") {
    loop.emplace(p, rows_of_group, operands, stream);
    entries.push_back({loop->name(), [&](int set) { loop->run(0, set, stream); }});
    for (const GemmVariantSm90& v : grouped_bf16_variants_sm90(p.grouping)) {
      add(v.name, [&](const GroupedOperands& set) { return plan_grouped_bf16_sm90(p, set, v); });
      cycles[v.name] =
          predicted_cycles_grouped_sm90(p, v, clusters_here_sm90(v), memory_here_sm90());
    }
    chosen = choose_grouped_here_sm90(p).name;
  } else {
    for (const BlockScaledVariantSm90& v : grouped_e4m3_variants_sm90())
      add(v.name, [&](const GroupedOperands& set) { return plan_grouped_e4m3_sm90(p, set, v); });
    chosen = choose_grouped_e4m3_sm90(p).name;
  }
  const std::string name = fmt::format("{}{}", p.text(), shape.uneven ? " uneven" : "");
  for (Entry& entry : entries) {
    poison(operands[0].d, layout[0].bytes, stream);
    entry.run(0);
    const std::string wrong = check_grouped(p, operands[0], rows_of_group, 1 << 12, 1, stream);
    entry.out = !wrong.empty();
    if (entry.out)
      std::fprintf(stderr, "%s %s: %s\n", name.c_str(), entry.name.c_str(), wrong.c_str());
  }
  take_turns(entries, sets, static_cast<std::uint32_t>(p.rows + p.n + p.k), milliseconds, stream, 1,
             rest);
  for (const Entry& entry : entries)
    if (!entry.ns.empty())
      fmt::print(out, "{},{},{:.0f},{},{:.0f},{:d}\n", name, entry.name, entry.median(),
                 entry.ns.size(), cycles[entry.name], entry.name == chosen);
  std::fflush(out);
}

std::vector<GroupedShape> shapes_in(const std::string& path) {
  std::vector<GroupedShape> shapes;
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string grouping;
    if (!(words >> grouping)) continue;
    GroupedShape s{};
    bool known = false;
    for (const Grouping g : {Grouping::contiguous, Grouping::masked, Grouping::gradient})
      if (grouping == name(g)) s.grouping = g, known = true;
    if (!known || !(words >> s.groups >> s.rows >> s.used >> s.n >> s.k >> s.uneven))
      throw Error(ExitCode::usage,
                  fmt::format("{}:{}: not a shape; write it as contiguous 8 8192 0 4096 7168 1",
                              path, number));
    shapes.push_back(s);
  }
  return shapes;
}

}  // namespace
}  // namespace assay::kernels

int main(int argc, char** argv) {
  using namespace assay;
  constexpr const char* kColumns = "shape,form,ns,samples,model_cycles,chosen";
  CLI::App app("Times every form of the grouped products beside a loop of cuBLASLt",
               "assay_grouped_sweep");
  kernels::SweepOptions options{.milliseconds = 200};
  options.add_to(app, kColumns);
  std::string shapes_path;
  app.add_option("--shapes", shapes_path,
                 "A line each: contiguous 8 8192 0 4096 7168 1 (default: the suite's)")
      ->check(CLI::ExistingFile);
  std::string type = "bf16";
  app.add_option("--type", type, "Of the operands; without a loop of cuBLASLt if it is not bf16")
      ->check(CLI::IsMember({"bf16", "e4m3_block128"}))
      ->capture_default_str();
  return kernels::run_sweep(app, argc, argv, options, kColumns, [&](FILE* out) {
    const auto suite = kernels::grouped_shapes();
    const std::vector<kernels::GroupedShape> shapes = shapes_path.empty()
                                                          ? std::vector(suite.begin(), suite.end())
                                                          : kernels::shapes_in(shapes_path);
    for (const kernels::GroupedShape& shape : shapes)
      if (type == "bf16" || shape.grouping != kernels::Grouping::gradient)
        kernels::sweep(shape, type, options.milliseconds, options.pause(), out);
  });
}

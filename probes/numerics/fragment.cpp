// SPDX-License-Identifier: Apache-2.0
// Which thread and register holds which element of A, B and D of an MMA, found by running it
// (fragment_map.hpp) and compared with the map that the PTX ISA documents. A kernel that loads its
// fragments itself, or reads what an MMA left, depends on every entry.
//
// The axes of the map are register and lane (of wgmma and tcgen05 thread, 0 to 127) and, where a
// register holds several, element. Parameters `rows` and `columns` say what the map is of: A (M x
// K), B (K x N) or D (M x N).
#include <fmt/format.h>

#include <cmath>

#include "probes/numerics/fragment_map.hpp"
#include "probes/numerics/mma_runner.hpp"

namespace {

using namespace assay;
using namespace assay::numerics;
using numerics::Operand;

struct Map {
  MmaInstruction instruction;
  Operand operand;
};

const char* letter(Operand operand) {
  return operand == Operand::a ? "a" : operand == Operand::b ? "b" : "d";
}

std::vector<Map> maps() {
  std::vector<Map> all;
  const auto mma_sync = [&](const char* element, const char* accumulator, int m, int k) {
    for (const Operand operand : {Operand::a, Operand::b, Operand::d})
      all.push_back({{Family::mma_sync, element, accumulator, m, 8, k}, operand});
  };
  for (const int k : {8, 16}) mma_sync("f16", "f32", 16, k);
  mma_sync("bf16", "f32", 16, 16);
  for (const int k : {4, 8}) mma_sync("tf32", "f32", 16, k);
  for (const int k : {16, 32}) mma_sync("s8", "s32", 16, k);
  mma_sync("e4m3", "f32", 16, 32);
  mma_sync("f64", "f64", 8, 4);
  for (const int k : {4, 8, 16}) mma_sync("f64", "f64", 16, k);
  all.push_back({{Family::mma_sync, "f16", "f16", 16, 8, 16}, Operand::d});

  struct Type {
    const char *element, *accumulator;
    int k;
  };
  for (const Type& type : {Type{"f16", "f32", 16},
                           {"bf16", "f32", 16},
                           {"tf32", "f32", 8},
                           {"e4m3", "f32", 32},
                           {"s8", "s32", 32}}) {
    all.push_back({{Family::wgmma, type.element, type.accumulator, 64, 8, type.k}, Operand::a});
    for (const int n : {8, 64, 256})
      if (n == 8 || type.element == std::string("f16"))
        all.push_back(
            {{Family::wgmma, type.element, type.accumulator, 64, n, type.k, false}, Operand::d});
  }
  all.push_back({{Family::wgmma, "f16", "f16", 64, 64, 16, false}, Operand::d});
  all.push_back({{Family::tcgen05, "f16", "f32", 128, 32, 16, false}, Operand::d});
  return all;
}

std::string case_name(const Map& map) {
  const MmaInstruction& i = map.instruction;
  return fmt::format("{}/{}/{}/{}{}", i.family_name(), i.element, i.shape(), letter(map.operand),
                     i.accumulator == "f16" ? "/acc_f16" : "");
}

const Map& map_of(const Case& c) {
  static const std::vector<Map> all = maps();
  for (const Map& map : all)
    if (case_name(map) == c.name) return map;
  throw std::logic_error("a case of an unknown map");
}

std::vector<Value> numbers(int count) {
  std::vector<Value> all;
  for (std::int64_t i = 0; i < count; ++i) all.emplace_back(i);
  return all;
}

void run(State& s) {
  const Map& map = map_of(s.which());
  const MmaInstruction& i = map.instruction;
  const MmaRunner runner(s, i, "mma");
  const auto found = discover(i, map.operand, runner.layout(),
                              [&](const std::vector<Block>& blocks) { return runner.run(blocks); });
  const std::vector<Slot> slots = i.slots(map.operand);
  const Fragment fragment = i.fragment(map.operand);
  const int columns = i.columns(map.operand);
  Series series{.name = "map",
                .unit = "row * columns + column",
                .axes = {{"register", numbers(fragment.registers)},
                         {i.asynchronous() ? "thread" : "lane", numbers(i.threads())}},
                .values = {}};
  if (fragment.elements > 1) series.axes.push_back({"element", numbers(fragment.elements)});
  int differing = 0;
  for (std::size_t at = 0; at < slots.size(); ++at) {
    series.values.push_back(found[at] ? found[at]->row * columns + found[at]->column
                                      : std::nan(""));
    const Position documented = documented_position(i, map.operand, slots[at]);
    if (found[at] == documented || differing++ > 0) continue;
    const std::string where =
        found[at] ? fmt::format("row {}, column {}", found[at]->row, found[at]->column) : "none";
    s.set_param("first_difference",
                fmt::format("thread {}, register {}, element {} holds {}, documented is row {}, "
                            "column {}",
                            slots[at].thread, slots[at].reg, slots[at].element, where,
                            documented.row, documented.column));
  }
  s.add_exact("matches_ptx_isa", "", Better::higher, differing == 0);
  s.add_series(std::move(series));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Map& map : maps()) {
    const MmaInstruction& i = map.instruction;
    all.push_back({.name = case_name(map),
                   .params = {{"a", i.element},
                              {"accumulate", i.accumulator},
                              {"shape", i.shape()},
                              {"operand", letter(map.operand)},
                              {"rows", std::int64_t{i.rows(map.operand)}},
                              {"columns", std::int64_t{i.columns(map.operand)}}},
                   .targets = targets_of(i),
                   .suite = Suite::full});
  }
  return all;
}

const Registration registration{{
    .name = "numerics/fragment",
    .question = "Which thread and register of an MMA holds which element of A, B and D?",
    .metrics = {{"map",
                 "Element that each thread's register holds, numbered row by row; empty where it "
                 "holds none."},
                {"matches_ptx_isa",
                 "Whether the map is the one that the PTX ISA documents: 1 or 0."}},
    .cases = cases(),
    .kernels =
        [](const Case& c, Target target) {
          return std::vector{single_mma_kernel(map_of(c).instruction, "mma", target)};
        },
    .run = run,
}};

}  // namespace

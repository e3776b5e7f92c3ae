// SPDX-License-Identifier: Apache-2.0
// Grouped products against a loop of cuBLASLt over the groups. Both take turns on the same inputs,
// larger than L2; before that, each result is checked against float64, group by group.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/state.hpp"
#include "kernels/frame/comparison.hpp"
#include "kernels/grouped/cublaslt_loop.hpp"
#include "kernels/grouped/grouped.hpp"
#include "kernels/grouped/operands.hpp"
#include "kernels/grouped/reference.hpp"
#include "kernels/grouped/shapes.hpp"

namespace assay::kernels {
namespace {

constexpr const char* kTypes[] = {"bf16", "e4m3_block128"};

// The shape's name, which says all of it but its model.
std::string name_of(const GroupedShape& s) {
  const std::string kind = s.grouping == Grouping::masked ? fmt::format("masked_used{}", s.used)
                                                          : std::string(name(s.grouping));
  return fmt::format("g{}m{}n{}k{}/{}{}", s.groups, s.rows, s.n, s.k, kind,
                     s.uneven ? "_uneven" : "");
}

GroupedProblem problem_of(const GroupedShape& s, const std::string& type) {
  return {s.grouping, type, s.groups, s.rows, s.n, s.k};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* type : kTypes) {
    std::int64_t index = 0;
    for (const GroupedShape& shape : grouped_shapes()) {
      const std::int64_t at = index++;
      if (shape.grouping == Grouping::gradient && type != std::string("bf16")) continue;
      std::vector<Target> targets = grouped_paths().targets(problem_of(shape, type));
      if (targets.empty()) continue;  // this program was built without
      all.push_back({.name = fmt::format("{}/{}", type, name_of(shape)),
                     .params = {{"type", type},
                                {"shape", at},
                                {"groups", shape.groups},
                                {"m", shape.rows},
                                {"n", shape.n},
                                {"k", shape.k},
                                {"model", std::string(shape.model)},
                                {"layer", std::string(shape.layer)}},
                     .targets = std::move(targets),
                     .suite = shape.suite});
    }
  }
  return burst_and_sustained(all);
}

const GroupedShape& shape_of(const Case& c) {
  return grouped_shapes()[static_cast<std::size_t>(c.i64("shape"))];
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const GroupedProblem problem = problem_of(shape_of(c), c.text("type"));
  return grouped_paths().choose(problem, target).kernels(problem);
}

void run(State& s) {
  const GroupedShape& shape = shape_of(s.which());
  const GroupedProblem p = problem_of(shape, s.which().text("type"));
  const bool scaled = p.type != "bf16";
  const std::vector<int> rows = rows_of_groups(shape);
  const double used = std::accumulate(rows.begin(), rows.end(), 0.0);
  const auto find_error = [&](std::span<void* const> set) {
    constexpr std::uint64_t kChecked = 1 << 12;  // of each group
    return check_grouped(p, grouped_operands_of(set), rows, kChecked, s.seed(), s.stream());
  };
  const auto open_loop = [&](const OperandSets& sets) {
    std::vector<GroupedOperands> all;
    for (int i = 0; i < sets.count(); ++i) all.push_back(grouped_operands_of(sets[i]));
    return std::make_unique<CublasLtLoop>(p, rows, all, s.stream());
  };
  compare(
      s,
      {.work = {.flop = 2.0 * used * p.n * p.k, .limit = tensor_peak(s, scaled ? "e4m3" : "bf16")},
       .operands = grouped_operands(p, sizes_of_groups(shape)),
       .plan =
           [&](std::span<void* const> set) { return plan_grouped(p, grouped_operands_of(set)); },
       .find_error = find_error,
       .libraries = {open_loop}});
}

// Made once every path has registered itself.
const Registration registration{[] {
  return Probe{.name = "kernels/grouped",
               .question =
                   "How fast are our products of groups, as a mixture of experts has them, "
                   "and how do they compare with a loop of cuBLASLt's?",
               .kind = Kind::kernel,
               .cases = cases(),
               .pace = Pace::power,
               .kernels = kernels,
               .run = run};
}};

}  // namespace
}  // namespace assay::kernels

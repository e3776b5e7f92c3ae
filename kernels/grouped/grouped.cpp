// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/grouped.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "harness/error.hpp"
#include "kernels/frame/extents.hpp"

namespace assay::kernels {

const char* name(Grouping grouping) {
  switch (grouping) {
    case Grouping::contiguous:
      return "contiguous";
    case Grouping::masked:
      return "masked";
    case Grouping::gradient:
      return "gradient";
  }
  return "";
}

std::string GroupedProblem::text() const {
  return fmt::format("grouped_{}_{} groups={} rows={} n={} k={}", type, name(grouping), groups,
                     rows, n, k);
}

void require_valid(const GroupedProblem& p) {
  const auto refuse = [&](const std::string& rule) {
    throw Error(ExitCode::usage, fmt::format("{}: {}", p.text(), rule));
  };
  if (p.type != "bf16" && p.type != "e4m3_block128")
    refuse("the type must be bf16 or e4m3_block128");
  if (p.grouping == Grouping::gradient && p.type != "bf16") refuse("gradients are of bf16 alone");
  if (p.groups < 1 || p.rows < 1 || p.n < 1 || p.k < 1) refuse("sizes must be positive");
  const int step = p.type == "bf16" ? 8 : 16;
  if (p.k % step != 0 || p.n % 8 != 0)
    refuse(fmt::format("k must be a multiple of {} and n of 8 (16-byte rows)", step));
  const std::int64_t rows = std::int64_t{p.rows} * (p.grouping == Grouping::masked ? p.groups : 1);
  const int each = p.grouping == Grouping::gradient ? p.k : p.n;  // of B, or of D's rows
  if (rows > kMostExtent || std::int64_t{p.groups} * each > kMostExtent)
    refuse("all groups' rows, and their columns, must be at most 2^31 - 1025");
  if (!fits_extents(p.grouping == Grouping::gradient ? p.k : p.rows, p.n, p.k))
    refuse(kExtentsRule);
}

void require_valid(const GroupedProblem& problem, const GroupedOperands& operands) {
  require_valid(problem);
  const auto check = [&](const char* name, const void* pointer, std::uintptr_t alignment) {
    if (pointer == nullptr || reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0)
      throw Error(ExitCode::usage,
                  fmt::format("{}: {} is at {}: it must be on device memory aligned to {} bytes",
                              problem.text(), name, pointer, alignment));
  };
  check("d", operands.d, 16);
  check("a", operands.a, 16);
  check("b", operands.b, 16);
  check("sizes", operands.sizes, 4);
  if (problem.type == "bf16") return;
  check("scale_a", operands.scale_a, 16);
  check("scale_b", operands.scale_b, 16);
}

GroupedPaths& grouped_paths() {
  static GroupedPaths paths;
  return paths;
}

Plan plan_grouped(const GroupedProblem& problem, const GroupedOperands& operands) {
  require_valid(problem, operands);
  return grouped_paths().choose(problem, current_target()).plan(problem, operands);
}

}  // namespace assay::kernels

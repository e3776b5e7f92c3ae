// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm.hpp"

#include <fmt/format.h>

#include "harness/element.hpp"
#include "harness/error.hpp"
#include "kernels/frame/extents.hpp"

namespace assay::kernels {

std::string GemmProblem::text() const {
  const std::string types = type_b.empty() || type_b == type ? type : type + "_" + type_b;
  return fmt::format("gemm_{}_{} m={} n={} k={}", types, layout, m, n, k);
}

void require_valid(const GemmProblem& p) {
  const auto refuse = [&](const std::string& rule) {
    throw Error(ExitCode::usage, fmt::format("gemm_{}_{}: {}, not m={} n={} k={}", p.type, p.layout,
                                             rule, p.m, p.n, p.k));
  };
  if (p.layout != "nt" && p.layout != "nn" && p.layout != "tn" && p.layout != "tt")
    refuse("the layout must be nt, nn, tn or tt");
  if (p.m < 1 || p.n < 1 || p.k < 1) refuse("sizes must be positive");
  if (!fits_extents(p.m, p.n, p.k)) refuse(kExtentsRule);
  const int step = 128 / element_bits(p.type);
  if (p.n % step != 0 || p.k % step != 0)
    refuse(fmt::format("n and k must be multiples of {} (16-byte rows)", step));
  if (p.layout[0] == 't' && p.m % step != 0)
    refuse(fmt::format("m of a transposed A must be a multiple of {} (16-byte rows)", step));
}

GemmPaths& gemm_paths() {
  static GemmPaths paths;
  return paths;
}

Plan plan_gemm(const GemmProblem& problem, const GemmOperands& operands) {
  require_valid(problem);
  return gemm_paths().choose(problem, current_target()).plan(problem, operands);
}

}  // namespace assay::kernels

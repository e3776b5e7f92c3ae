// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/gemm_block_scaled.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "harness/error.hpp"
#include "kernels/frame/extents.hpp"

namespace assay::kernels {

std::string BlockScaledProblem::text() const {
  return fmt::format("gemm_e4m3_block128 m={} n={} k={}", m, n, k);
}

void require_valid(const BlockScaledProblem& p) {
  const auto refuse = [&](const char* rule) {
    throw Error(ExitCode::usage,
                fmt::format("gemm_e4m3_block128: {}, not m={} n={} k={}", rule, p.m, p.n, p.k));
  };
  if (p.m < 1 || p.n < 1 || p.k < 1) refuse("sizes must be positive");
  if (!fits_extents(p.m, p.n, p.k)) refuse(kExtentsRule);
  if (p.k % 16 != 0 || p.n % 8 != 0) refuse("k must be a multiple of 16 and n of 8 (16-byte rows)");
}

void require_valid(const BlockScaledProblem& problem, const BlockScaledOperands& operands) {
  require_valid(problem);
  const auto check = [](const char* name, const void* pointer) {
    if (pointer == nullptr || reinterpret_cast<std::uintptr_t>(pointer) % 16 != 0)
      throw Error(
          ExitCode::usage,
          fmt::format("gemm_e4m3_block128: {} is at {}: it must be on device memory aligned "
                      "to 16 bytes",
                      name, pointer));
  };
  check("d", operands.d);
  check("a", operands.a);
  check("b", operands.b);
  check("scale_a", operands.scale_a);
  check("scale_b", operands.scale_b);
}

BlockScaledPaths& block_scaled_paths() {
  static BlockScaledPaths paths;
  return paths;
}

Plan plan_gemm_block_scaled(const BlockScaledProblem& problem,
                            const BlockScaledOperands& operands) {
  require_valid(problem, operands);
  return block_scaled_paths().choose(problem, current_target()).plan(problem, operands);
}

}  // namespace assay::kernels

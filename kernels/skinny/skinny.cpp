// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/skinny.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "harness/error.hpp"

namespace assay::kernels {

const char* name(SkinnyWeights weights) {
  switch (weights) {
    case SkinnyWeights::bf16:
      return "bf16";
    case SkinnyWeights::s8:
      return "s8";
    case SkinnyWeights::e4m3:
      return "e4m3";
    case SkinnyWeights::s4:
      return "s4";
    case SkinnyWeights::s2:
      return "s2";
    case SkinnyWeights::mxf4:
      return "mxf4";
    case SkinnyWeights::nvf4:
      return "nvf4";
  }
  throw Error(ExitCode::usage,
              fmt::format("skinny: no weights have the number {}; there are 0 to {}",
                          static_cast<int>(weights), std::size(kSkinnyWeights) - 1));
}

SkinnyWeights skinny_weights(const std::string& text) {
  std::string known;
  for (const SkinnyWeights w : kSkinnyWeights) {
    if (text == name(w)) return w;
    known += std::string(known.empty() ? "" : ", ") + name(w);
  }
  throw Error(ExitCode::usage, fmt::format("skinny: weights are {}, not '{}'", known, text));
}

std::size_t SkinnyProblem::weight_bytes() const {
  return static_cast<std::size_t>(n) * (static_cast<std::size_t>(k) * weight_bits(weights) / 8);
}

std::size_t SkinnyProblem::scale_bytes() const {
  return static_cast<std::size_t>(n) * static_cast<std::size_t>(scale_row_bytes(weights, k));
}

double SkinnyProblem::bytes() const {
  return static_cast<double>(weight_bytes()) + static_cast<double>(scale_bytes()) + 2.0 * m * k +
         2.0 * m * n;
}

std::string SkinnyProblem::text() const {
  return fmt::format("skinny_{} m={} n={} k={}", name(weights), m, n, k);
}

void require_valid(const SkinnyProblem& p) {
  const auto refuse = [&](const std::string& rule) {
    throw Error(ExitCode::usage, fmt::format("skinny_{}: {}, not m={} n={} k={}", name(p.weights),
                                             rule, p.m, p.n, p.k));
  };
  if (p.m < 1 || p.m > kMostTokens) refuse(fmt::format("m must be 1 to {}", kMostTokens));
  if (p.n < 1 || p.k < 1) refuse("sizes must be positive");
  if (p.n > kMostOutputs) refuse(fmt::format("n must be at most {}", kMostOutputs));
  if (p.k > kMostInputs) refuse(fmt::format("k must be at most {}", kMostInputs));
  const int step = skinny_step(p.weights);
  if (p.k % step != 0)
    refuse(fmt::format("k must be a multiple of {} (whole scales, rows of 16 bytes)", step));
}

void require_valid(const SkinnyProblem& p, const SkinnyOperands& operands) {
  const auto need = [&](const char* what, const void* pointer, std::uintptr_t alignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (pointer == nullptr)
      throw Error(ExitCode::usage, fmt::format("{}: {} is null", p.text(), what));
    if (address % alignment != 0)
      throw Error(ExitCode::usage, fmt::format("{}: {} at {:#x} must be aligned to {} bytes",
                                               p.text(), what, address, alignment));
  };
  need("d", operands.d, 2);
  need("x", operands.x, 16);
  need("w", operands.w, 16);
  if (p.scale_bytes() > 0) need("scales", operands.scales, 16);
  if (p.weights == SkinnyWeights::nvf4) need("scale", operands.scale, alignof(float));
}

SkinnyPaths& skinny_paths() {
  static SkinnyPaths paths;
  return paths;
}

Plan plan_skinny(const SkinnyProblem& problem, const SkinnyOperands& operands) {
  require_valid(problem);
  require_valid(problem, operands);
  return skinny_paths().choose(problem, current_target()).plan(problem, operands);
}

}  // namespace assay::kernels

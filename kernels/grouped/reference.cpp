// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/cuda.hpp"
#include "kernels/gemm/reference.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/reference.hpp"

namespace assay::kernels {

namespace {

// A^T B over rows `first` to first + count - 1.
std::string check_gradient(const GroupedProblem& p, const GroupedOperands& operands, int group,
                           int first, int count, std::uint64_t limit, std::uint64_t seed,
                           cudaStream_t stream) {
  const auto at = [](const void* base, int rows, int columns) {
    return static_cast<const std::byte*>(base) +
           static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * 2;
  };
  const GemmErrors errors =
      check_gemm({.m = p.k, .n = p.n, .k = count, .layout = "tn"},
                 {.d = const_cast<std::byte*>(at(operands.d, group * p.k, p.n)),
                  .a = at(operands.a, first, p.k),
                  .b = at(operands.b, first, p.n)},
                 limit, seed, stream);
  return errors.right() ? std::string()
                        : "group " + std::to_string(group) + ": " + errors.describe();
}

// That D of a group without rows is 0.
std::string check_empty_gradient(const GroupedProblem& p, const GroupedOperands& operands,
                                 int group, cudaStream_t stream) {
  const std::size_t count = static_cast<std::size_t>(p.k) * static_cast<std::size_t>(p.n);
  const auto* const d =
      static_cast<const std::uint16_t*>(operands.d) + static_cast<std::size_t>(group) * count;
  std::vector<std::uint16_t> part(std::min(count, std::size_t{1} << 24));
  check(cudaStreamSynchronize(stream));
  for (std::size_t begin = 0; begin < count; begin += part.size()) {
    const std::size_t here = std::min(part.size(), count - begin);
    check(cudaMemcpy(part.data(), d + begin, here * sizeof part[0], cudaMemcpyDeviceToHost));
    const auto end = part.begin() + static_cast<std::ptrdiff_t>(here);
    const auto wrong = std::find_if(part.begin(), end, [](int bits) { return bits != 0; });
    if (wrong != end)
      return fmt::format("group {}: it has no rows, but element {} of its D is not 0", group,
                         begin + static_cast<std::size_t>(wrong - part.begin()));
  }
  return "";
}

}  // namespace

std::string check_grouped(const GroupedProblem& p, const GroupedOperands& operands,
                          const std::vector<int>& rows, std::uint64_t limit, std::uint64_t seed,
                          cudaStream_t stream) {
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const bool scaled = p.type != "bf16", masked = p.grouping == Grouping::masked;
  const std::size_t element = scaled ? 1 : 2;
  int begin = 0;
  for (int g = 0; g < p.groups; ++g) {
    const int m = rows[size(g)], first = masked ? g * p.rows : begin;
    begin += m;
    if (p.grouping == Grouping::gradient) {
      const std::string wrong = m == 0
                                    ? check_empty_gradient(p, operands, g, stream)
                                    : check_gradient(p, operands, g, first, m, limit, seed, stream);
      if (!wrong.empty()) return wrong;
      continue;
    }
    if (m == 0) continue;
    void* const d = static_cast<std::byte*>(operands.d) + size(first) * size(p.n) * 2;
    const void* const a =
        static_cast<const std::byte*>(operands.a) + size(first) * size(p.k) * element;
    const void* const b =
        static_cast<const std::byte*>(operands.b) + size(g) * size(p.n) * size(p.k) * element;
    GemmErrors errors;
    if (scaled) {
      const int stride = scale_a_stride(p.rows);
      const std::size_t from =
          masked ? size(g) * size(blocks_of_scales(p.k)) * size(stride) : size(first);
      const std::size_t from_b = size(g) * size(blocks_of_scales(p.n)) * size(scale_b_stride(p.k));
      errors = check_gemm_block_scaled(
          {m, p.n, p.k}, {d, a, b, operands.scale_a + from, operands.scale_b + from_b}, limit, seed,
          stream, stride);
    } else {
      errors =
          check_gemm({.m = m, .n = p.n, .k = p.k}, {.d = d, .a = a, .b = b}, limit, seed, stream);
    }
    if (!errors.right()) return "group " + std::to_string(g) + ": " + errors.describe();
  }
  return "";
}

}  // namespace assay::kernels

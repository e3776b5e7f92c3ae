// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/operands.hpp"

#include <cstdint>
#include <string>

#include "harness/cuda.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"

namespace assay::kernels {

std::vector<Operand> grouped_operands(const GroupedProblem& p, const std::vector<int>& sizes) {
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const bool scaled = p.type != "bf16";
  const std::string element = scaled ? "e4m3" : "bf16";
  const std::size_t parts = p.grouping == Grouping::masked ? size(p.groups) : 1;
  const std::size_t rows = parts * size(p.rows), columns = size(p.groups) * size(p.n);
  const bool gradient = p.grouping == Grouping::gradient;
  const Operand groups = {.bytes = sizes.size() * sizeof(int),
                          .fill = [sizes](void* data, std::uint64_t, cudaStream_t stream) {
                            check(cudaMemcpyAsync(data, sizes.data(), sizes.size() * sizeof(int),
                                                  cudaMemcpyHostToDevice, stream));
                            check(cudaStreamSynchronize(stream));
                          }};
  std::vector<Operand> all = {{.bytes = (gradient ? columns * size(p.k) : rows * size(p.n)) * 2},
                              normal(element, rows * size(p.k)),
                              normal(element, gradient ? rows * size(p.n) : columns * size(p.k)),
                              groups};
  if (scaled) {
    const std::size_t k_blocks = size(blocks_of_scales(p.k));
    all.push_back(factors(parts * k_blocks * size(scale_a_stride(p.rows))));
    all.push_back(
        factors(size(p.groups) * size(blocks_of_scales(p.n)) * size(scale_b_stride(p.k))));
  }
  return all;
}

GroupedOperands grouped_operands_of(std::span<void* const> set) {
  GroupedOperands o{set[0], set[1], set[2], static_cast<const int*>(set[3])};
  if (set.size() == 4) return o;
  o.scale_a = static_cast<const float*>(set[4]);
  o.scale_b = static_cast<const float*>(set[5]);
  return o;
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/cublaslt_loop.hpp"

#include <utility>

#include "kernels/gemm_block_scaled/block_scales.hpp"

namespace assay::kernels {
namespace {

std::size_t size(int value) { return static_cast<std::size_t>(value); }

const void* at(const void* base, std::size_t bytes) {
  return static_cast<const std::byte*>(base) + bytes;
}

}  // namespace

CublasLtLoop::CublasLtLoop(const GroupedProblem& p, const std::vector<int>& rows,
                           const std::vector<GroupedOperands>& sets, cudaStream_t stream) {
  const bool scaled = p.type != "bf16", masked = p.grouping == Grouping::masked;
  const std::size_t element = scaled ? 1 : 2;
  const int k_blocks = blocks_of_scales(p.k);
  int begin = 0;
  for (int g = 0; g < p.groups; ++g) {
    const int m = rows[size(g)], first = masked ? g * p.rows : begin;
    begin += m;
    if (m == 0) continue;
    CublasLtProblem problem{.m = m, .n = p.n, .k = p.k, .a = "bf16", .b = "bf16", .d = "bf16"};
    if (p.grouping == Grouping::gradient) {
      problem.m = p.k;
      problem.k = m;
      problem.layout = "tn";
      std::vector<CublasLtGemm::Operands> operands;
      for (const GroupedOperands& set : sets)
        operands.push_back(
            {.d = static_cast<std::byte*>(set.d) + size(g) * size(p.k) * size(p.n) * 2,
             .a = at(set.a, size(first) * size(p.k) * 2),
             .b = at(set.b, size(first) * size(p.n) * 2)});
      groups_.push_back(std::make_unique<CublasLtGemm>(problem, std::move(operands)));
      continue;
    }
    if (scaled) {
      problem.a = problem.b = "e4m3";
      problem.scale_a = CublasLtScale::block128;
      problem.scale_b = CublasLtScale::block128x128;
      problem.fast_accumulation = false;
    }
    std::vector<CublasLtGemm::Operands> operands;
    for (const GroupedOperands& set : sets) {
      CublasLtGemm::Operands one;
      one.d = static_cast<std::byte*>(set.d) + size(first) * size(p.n) * 2;
      one.a = at(set.a, size(first) * size(p.k) * element);
      one.b = at(set.b, size(g) * size(p.n) * size(p.k) * element);
      if (scaled) {
        const std::size_t from_stride = size(scale_a_stride(p.rows)) * 4,
                          to_stride = size(scale_a_stride(m)) * 4;
        const std::size_t from = masked ? size(g) * size(k_blocks) * from_stride : size(first) * 4;
        const Buffer& copy = scales_.emplace_back(size(k_blocks) * to_stride);
        check(cudaMemcpy2DAsync(copy.data(), to_stride, at(set.scale_a, from), from_stride,
                                size(m) * 4, size(k_blocks), cudaMemcpyDeviceToDevice, stream));
        one.scale_a = copy.data();
        one.scale_b =
            at(set.scale_b, size(g) * size(blocks_of_scales(p.n)) * size(scale_b_stride(p.k)) * 4);
      }
      operands.push_back(one);
    }
    groups_.push_back(std::make_unique<CublasLtGemm>(problem, std::move(operands)));
  }
  check(cudaStreamSynchronize(stream));
}

}  // namespace assay::kernels

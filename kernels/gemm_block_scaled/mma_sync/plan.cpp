// SPDX-License-Identifier: Apache-2.0
// The plain block-scaled product: how its kernel is launched.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "harness/cuda.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/gemm_block_scaled.hpp"
#include "kernels/gemm_block_scaled/mma_sync/arguments.hpp"

namespace assay::kernels {
namespace {

std::int64_t tiles(const BlockScaledProblem& p) {
  const auto count = [](int size) {
    return (std::int64_t{size} + kBlockScaledPlainTile - 1) / kBlockScaledPlainTile;
  };
  return count(p.m) * count(p.n);
}

std::string refusal(const BlockScaledProblem& p) {
  return tiles(p) <= std::numeric_limits<int>::max() ? "" : "has no grid of so many tiles";
}

struct Launcher {
  BlockScaledPlainArguments arguments;
  unsigned grid;

  void operator()(cudaStream_t stream) {
    void* pointers[] = {&arguments};
    check(cudaLaunchKernel(block_scaled_plain_kernel(), dim3(grid), dim3(kBlockScaledPlainThreads),
                           pointers, 0, stream));
  }
};

Plan plan(const BlockScaledProblem& p, const BlockScaledOperands& o) {
  return {.variant = "64x64x128_mma_sync",
          .run = Launcher{{o.d, o.a, o.b, o.scale_a, o.scale_b, p.m, p.n, p.k, scale_a_stride(p.m),
                           scale_b_stride(p.k)},
                          static_cast<unsigned>(tiles(p))}};
}

std::vector<KernelUse> kernels(const BlockScaledProblem&) {
  return {{.kernel = "gemm_e4m3_block_scaled_plain", .sass = {{"LDSM.16.M88.4", 16, 16}}}};
}

const BlockScaledPaths::Registration path{block_scaled_paths(),
                                          {.name = "mma_sync",
                                           .targets = all_gpu_targets(),
                                           .refusal = refusal,
                                           .plan = plan,
                                           .kernels = kernels}};

}  // namespace
}  // namespace assay::kernels

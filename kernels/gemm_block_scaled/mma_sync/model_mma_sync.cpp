// SPDX-License-Identifier: Apache-2.0
// The plain block-scaled product in the host model.
#include <vector>

#include "harness/model_case/model_case.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/mma_sync/arguments.hpp"
#include "kernels/gemm_block_scaled/model_operands.hpp"

namespace assay::kernels {
namespace {

constexpr const char* kKernel = "gemm_e4m3_block_scaled_plain";

// As BlockScaledPlainArguments, with the model's addresses.
struct Arguments {
  model::Address d, a, b, scale_a, scale_b;
  int m, n, k, scale_a_stride, scale_b_stride;
};

ModelResult run(const BlockScaledModelShape& s, model::Gpu& gpu, const model::Options& options) {
  const BlockScaledModelOperands operands(gpu, s, options.seed);
  const auto [d, a, b, scale_a, scale_b] = operands.addresses();
  static_assert(sizeof(Arguments) == sizeof(BlockScaledPlainArguments));
  model::Arguments arguments;
  arguments.push(Arguments{d, a, b, scale_a, scale_b, s.m, s.n, s.k, scale_a_stride(s.m),
                           scale_b_stride(s.k)});
  const auto tiles = [](int size) {
    return (size + kBlockScaledPlainTile - 1) / kBlockScaledPlainTile;
  };
  ModelResult result;
  result.outcome = gpu.launch(
      gpu.kernel(kKernel),
      {.grid = {tiles(s.m) * tiles(s.n), 1, 1}, .block = {kBlockScaledPlainThreads, 1, 1}},
      arguments, options);
  if (result.outcome.finished) operands.compare(gpu, result);
  return result;
}

const ModelCase::Registration registration{[] {
  std::vector<ModelCase> cases;
  for (const BlockScaledModelShape& s : awkward_block_scaled_shapes())
    cases.push_back({.name = "kernels/gemm_block_scaled/e4m3_block128/" + s.name() + "/nt/mma_sync",
                     .kernels = {kKernel},
                     .run = [s](model::Gpu& gpu, const model::Options& options) {
                       return run(s, gpu, options);
                     }});
  return cases;
}()};

}  // namespace
}  // namespace assay::kernels

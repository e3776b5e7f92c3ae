// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/sm90/plan_sm90.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/frame/resident.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

int divide_up(int a, int b) { return (a + b - 1) / b; }

// Everything that a launch needs.
struct Launcher {
  const GemmVariantSm90* variant;
  CUtensorMap map_a, map_b, map_d;
  Raster raster;
  int k_steps;
  int grid;

  void operator()(cudaStream_t stream) {
    void* arguments[] = {&map_a, &map_b, &map_d, &raster, &k_steps};
    check(cudaLaunchKernel(variant->kernel, dim3(static_cast<unsigned>(grid)),
                           dim3(static_cast<unsigned>(variant->threads)), arguments,
                           static_cast<std::size_t>(variant->shared_bytes), stream));
  }
};

std::string refusal(const GemmProblem& problem) {
  return problem.type == "bf16" && problem.layout == "nt" ? "" : "does bf16 nt only";
}

std::vector<KernelUse> kernels(const GemmProblem&) {
  const GemmVariantSm90& v = gemm_bf16_nt_variant_sm90();
  const int per_stage = v.tile_m / 128 * 4;  // 64-row blocks of a consumer x steps of 16 along k
  const std::string opcode = "HGMMA.64x" + std::to_string(v.tile_n) + "x16.F32.BF16";
  return {{.kernel = v.kernel_name,
           .sass = {{opcode, per_stage, per_stage}, {"UTMALDG.2D", 2, 2, SassWhere::kernel}}}};
}

const GemmPaths::Registration path{
    gemm_paths(),
    {.name = "sm90",
     .targets = {Target::sm_90a},
     .refusal = refusal,
     .plan = [](const GemmProblem& problem,
                const GemmOperands& operands) { return plan_gemm_sm90(problem, operands); },
     .kernels = kernels}};

}  // namespace

Plan plan_gemm_sm90(const GemmProblem& problem, const GemmOperands& operands,
                    const GemmOptionsSm90& options) {
  const GemmVariantSm90& v = gemm_bf16_nt_variant_sm90();
  const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
  const auto bytes = [](int elements) {
    return std::uint64_t{2} * static_cast<unsigned>(elements);
  };
  Launcher l{.variant = &v};
  l.map_a = ptx::encode_bf16_matrix(operands.a, m, k, bytes(k), v.tile_m / v.cluster_n, v.tile_k);
  l.map_b = ptx::encode_bf16_matrix(operands.b, n, k, bytes(k), v.tile_n / v.cluster_m, v.tile_k);
  l.map_d = ptx::encode_bf16_matrix(operands.d, m, n, bytes(n), 16, 64);
  l.raster = {.rows = divide_up(m, v.tile_m * v.cluster_m),
              .columns = divide_up(n, v.tile_n * v.cluster_n),
              .band = options.band};
  l.k_steps = divide_up(k, v.tile_k);
  int clusters = std::min(
      resident_clusters(v.kernel, v.cluster_size(), v.threads, v.shared_bytes, "gemm " + v.name),
      l.raster.count());
  if (options.max_ctas > 0) {
    clusters = std::min(clusters, std::max(options.max_ctas / v.cluster_size(), 1));
  }
  // As few clusters as do not take another wave: the squares of a power of two then run on 128 SMs
  // with equal shares, which leaves the power and the L2 of four idle ones to the others.
  const int waves = divide_up(l.raster.count(), clusters);
  clusters = divide_up(l.raster.count(), waves);
  l.grid = clusters * v.cluster_size();
  return {.variant = v.name, .run = l};
}

}  // namespace assay::kernels

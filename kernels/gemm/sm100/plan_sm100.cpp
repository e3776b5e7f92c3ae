// SPDX-License-Identifier: Apache-2.0
// The bf16 matrix product on tcgen05: how its kernel is launched. Built, disassembled and run in
// the host model, not on silicon: its times are nobody's yet.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/workers/resident.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm/sm100/variant_sm100.hpp"

namespace assay::kernels {
namespace {

// A pair multiplies 256 rows at once: one CTA where there are no more than its 128.
const GemmVariantSm100& variant_for(const GemmProblem& problem) {
  const auto all = gemm_bf16_nt_variants_sm100();
  return problem.m > all.front().tile_m ? all.back() : all.front();
}

struct Launcher {
  const GemmVariantSm100* variant;
  CUtensorMap map_a, map_b;
  void* d;
  Raster raster;
  int k_steps, m, n;
  int grid;

  void operator()(cudaStream_t stream) {
    void* arguments[] = {&map_a, &map_b, &d, &raster, &k_steps, &m, &n};
    check(cudaLaunchKernel(variant->kernel, dim3(static_cast<unsigned>(grid)),
                           dim3(static_cast<unsigned>(variant->threads)), arguments,
                           static_cast<std::size_t>(variant->shared_bytes), stream));
  }
};

Plan plan(const GemmProblem& problem, const GemmOperands& operands) {
  const GemmVariantSm100& v = variant_for(problem);
  const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
  const auto row_bytes = std::uint64_t{2} * static_cast<unsigned>(k);
  Launcher l{.variant = &v};
  l.map_a = ptx::encode_bf16_matrix(operands.a, m, k, row_bytes, v.box_a, v.tile_k);
  l.map_b = ptx::encode_bf16_matrix(operands.b, n, k, row_bytes, v.box_b, v.tile_k);
  l.d = operands.d;
  l.raster = {.rows = divide_up(m, v.tile_m), .columns = divide_up(n, v.tile_n), .band = 8};
  l.k_steps = divide_up(k, v.tile_k);
  l.m = m;
  l.n = n;
  l.grid =
      std::min(resident_clusters(v.kernel, v.ctas, v.threads, v.shared_bytes, "gemm " + v.name),
               l.raster.count()) *
      v.ctas;
  return {.variant = v.name, .run = l};
}

std::string refusal(const GemmProblem& p) {
  if (p.type != "bf16" || p.b_type() != "bf16" || p.d_type() != "bf16" || p.layout != "nt")
    return "does bf16 nt only";
  const bool plain = p.alpha == 1 && p.beta == 0 && !p.bias && p.activation == Activation::none &&
                     p.scaling == Scaling::none;
  return plain ? "" : "does A B alone, without scales, addend, bias and activation";
}

std::vector<KernelUse> kernels(const GemmProblem& problem) {
  const GemmVariantSm100& v = variant_for(problem);
  const int per_stage = v.tile_k / 16;
  const std::string pair = v.ctas == 2 ? ".2CTA" : "";
  // The kernel's largest loop is the epilogue's; the multiplying one is of a single thread.
  return {{.kernel = v.kernel_name,
           .sass = {{"UTCHMMA" + pair, per_stage, per_stage, SassWhere::kernel},
                    {"UTMALDG.2D" + pair, 2, 2, SassWhere::kernel},
                    {"LDTM.x32", v.tile_n / 32, v.tile_n / 32, SassWhere::kernel}}}};
}

const GemmPaths::Registration path{gemm_paths(),
                                   {.name = "sm100",
                                    .targets = {Target::sm_100a, Target::sm_103a},
                                    .refusal = refusal,
                                    .plan = plan,
                                    .kernels = kernels}};

}  // namespace
}  // namespace assay::kernels

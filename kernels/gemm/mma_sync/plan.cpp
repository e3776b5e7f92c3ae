// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/mma_sync/plan.hpp"

#include <climits>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/element.hpp"

namespace assay::kernels {
namespace {

constexpr int kEnoughTiles = 128;  // about as many as large GPUs have SMs

int divide_up(int a, int b) { return (a + b - 1) / b; }

bool is_16_bit(const std::string& type) { return type == "bf16" || type == "f16"; }
bool is_fp8(const std::string& type) { return type == "e4m3" || type == "e5m2"; }

MmaSyncOperand operand(const void* data, int rows, int columns, const std::string& type) {
  const int bytes = columns * element_bits(type) / 8;
  return {static_cast<const std::uint8_t*>(data), bytes, rows, bytes};
}

std::vector<KernelUse> kernels(const GemmProblem& p) {
  const GemmVariantMmaSync& v =
      gemm_mma_sync_variant(p.type, p.b_type(), p.layout, wants_small_tile(p));
  // sm_90 has no fp8 form of mma.sync: ptxas makes two f16 ones of each, with conversions.
  return {{.kernel = v.kernel_name,
           .sass = {{"HMMA.16816|QMMA.16832", v.mma, 2 * v.mma},
                    {"LDSM.16.M88.4|LDSM.16.MT88.4"},
                    {"LDGSTS.E.BYPASS.128", 1, INT_MAX, SassWhere::kernel}}}};
}

const GemmPaths::Registration path{gemm_paths(),
                                   {.name = "mma_sync",
                                    .targets = all_gpu_targets(),
                                    .refusal = refusal_mma_sync,
                                    .plan = plan_mma_sync,
                                    .kernels = kernels}};

}  // namespace

std::string refusal_mma_sync(const GemmProblem& p) {
  const bool fp8 = is_fp8(p.type) && is_fp8(p.b_type());
  if (!fp8 && !(is_16_bit(p.type) && p.b_type() == p.type))
    return "does bf16, f16, and e4m3 and e5m2 by each other, not " + p.type + " by " + p.b_type();
  if (!is_16_bit(p.d_type()) && p.d_type() != "f32")
    return "stores bf16, f16 and f32, not " + p.d_type();
  if (p.layout != "nt" && p.layout != "nn" && p.layout != "tn" && p.layout != "tt")
    return "knows the layouts nt, nn, tn and tt, not " + p.layout;
  if (fp8 && p.layout != "nt") return "does 8-bit operands in layout nt only, not " + p.layout;
  const int step = fp8 ? 16 : 8;
  if (p.n % step != 0 || p.k % step != 0 || (p.layout[0] == 't' && p.m % step != 0))
    return "needs rows of whole 16-byte pieces: n and k" +
           std::string(p.layout[0] == 't' ? " and m" : "") + " multiples of " +
           std::to_string(step);
  constexpr int kMost = 1 << 29;
  if (p.m > kMost || p.n > kMost || p.k > kMost) return "does sizes up to 2^29";
  constexpr std::int64_t kTiles = INT_MAX;
  if (std::int64_t{divide_up(p.m, 128)} * divide_up(p.n, 128) > kTiles)
    return "does up to 2^31 - 1 tiles";
  return "";
}

bool wants_small_tile(const GemmProblem& p) {
  return std::int64_t{divide_up(p.m, 128)} * divide_up(p.n, 128) < kEnoughTiles;
}

GemmMmaSyncLaunch launch_mma_sync(const GemmProblem& p, const GemmOperands& o, bool small) {
  const GemmVariantMmaSync& v = gemm_mma_sync_variant(p.type, p.b_type(), p.layout, small);
  const bool scaled = p.scaling != Scaling::none;
  const std::string& d = p.d_type();
  return {.variant = &v,
          .a = p.layout[0] == 'n' ? operand(o.a, p.m, p.k, p.type) : operand(o.a, p.k, p.m, p.type),
          .b = p.layout[1] == 't' ? operand(o.b, p.n, p.k, p.b_type())
                                  : operand(o.b, p.k, p.n, p.b_type()),
          .finish = {.d = o.d,
                     .c = p.beta != 0 ? o.c : nullptr,
                     .bias = p.bias ? o.bias : nullptr,
                     .scale_a = scaled ? o.scale_a : nullptr,
                     .scale_b = scaled ? o.scale_b : nullptr,
                     .alpha = p.alpha,
                     .beta = p.beta,
                     .scale_step = p.scaling == Scaling::row,
                     .type_d = d == "bf16" ? 0 : (d == "f16" ? 1 : 2),
                     .activation = static_cast<int>(p.activation)},
          .m = p.m,
          .n = p.n,
          .stages = divide_up(p.k, v.depth),
          .raster = {.rows = divide_up(p.m, v.tile), .columns = divide_up(p.n, v.tile), .band = 8}};
}

Plan plan_mma_sync(const GemmProblem& problem, const GemmOperands& operands) {
  GemmMmaSyncLaunch l = launch_mma_sync(problem, operands, wants_small_tile(problem));
  return {"mma_sync_" + l.variant->name, [l](cudaStream_t stream) mutable {
            void* arguments[] = {&l.a, &l.b, &l.finish, &l.m, &l.n, &l.stages, &l.raster};
            check(cudaLaunchKernel(l.variant->kernel, dim3(static_cast<unsigned>(l.raster.count())),
                                   dim3(static_cast<unsigned>(l.variant->threads)), arguments,
                                   static_cast<std::size_t>(l.variant->shared_bytes), stream));
          }};
}

}  // namespace assay::kernels

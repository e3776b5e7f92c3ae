// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/mma_sync/plan.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/element.hpp"
#include "kernels/frame/divide_up.hpp"

namespace assay::kernels {
namespace {

constexpr int kEnoughTiles = 128;  // about as many as large GPUs have SMs
constexpr int kEnoughCtas = 256;   // two for each of them
constexpr int kFewestStages = 8;   // of a part of the sum
constexpr int kMostParts = 16;
constexpr int kSumThreads = 256;  // of the kernel that adds the parts

bool is_16_bit(const std::string& type) { return type == "bf16" || type == "f16"; }
bool is_fp8(const std::string& type) { return type == "e4m3" || type == "e5m2"; }

MmaSyncOperand operand(const void* data, int rows, int columns, const std::string& type) {
  const int bytes = columns * (element_bits(type) / 8);  // at most 2^30
  return {static_cast<const std::uint8_t*>(data), bytes, rows, bytes};
}

std::vector<KernelUse> kernels(const GemmProblem& p) {
  const GemmVariantMmaSync& v =
      gemm_mma_sync_variant(p.type, p.b_type(), p.layout, wants_small_tile(p));
  // sm_90 has no fp8 form of mma.sync: ptxas makes two f16 ones of each, with conversions.
  std::vector<KernelUse> uses = {
      {.kernel = v.kernel_name,
       .sass = {{"HMMA.16816|QMMA.16832", v.mma, 2 * v.mma},
                {"LDSM.16.M88.4|LDSM.16.MT88.4"},
                {"LDGSTS.E.BYPASS.128", 1, INT_MAX, SassWhere::kernel}}}};
  if (parts_of_mma_sync(p) > 1)
    uses.push_back({.kernel = v.sum_name, .sass = {{"LDG.E.64"}, {"FADD"}}});
  return uses;
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

int parts_of_mma_sync(const GemmProblem& p) {
  const bool small = wants_small_tile(p);
  const GemmVariantMmaSync& v = gemm_mma_sync_variant(p.type, p.b_type(), p.layout, small);
  const std::int64_t tiles = std::int64_t{divide_up(p.m, v.tile)} * divide_up(p.n, v.tile);
  if (tiles >= kEnoughTiles) return 1;
  const int stages = divide_up(p.k, v.depth);
  const int wanted = divide_up(kEnoughCtas, static_cast<int>(tiles));
  return std::max(1, std::min({wanted, stages / kFewestStages, kMostParts}));
}

std::size_t GemmMmaSyncLaunch::partial_bytes() const {
  if (parts == 1) return 0;
  return static_cast<std::size_t>(parts) * static_cast<std::size_t>(m) *
         static_cast<std::size_t>(n) * sizeof(float);
}

GemmMmaSyncLaunch launch_mma_sync(const GemmProblem& p, const GemmOperands& o, bool small,
                                  int parts) {
  const GemmVariantMmaSync& v = gemm_mma_sync_variant(p.type, p.b_type(), p.layout, small);
  const int stages = divide_up(p.k, v.depth), each = divide_up(stages, parts);
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
          .split = {.partial = nullptr, .each = each},
          .m = p.m,
          .n = p.n,
          .stages = stages,
          .parts = divide_up(stages, each),
          .raster = {.rows = divide_up(p.m, v.tile), .columns = divide_up(p.n, v.tile), .band = 8}};
}

Plan plan_mma_sync(const GemmProblem& problem, const GemmOperands& operands) {
  const int parts = parts_of_mma_sync(problem);
  GemmMmaSyncLaunch l = launch_mma_sync(problem, operands, wants_small_tile(problem), parts);
  const std::string name = "mma_sync_" + l.variant->name +
                           (l.parts > 1 ? "_k" + std::to_string(l.parts) : std::string());
  return {
      name, [l](cudaStream_t stream) mutable {
        const auto launch = [&](const void* kernel, dim3 grid, int threads, int shared_bytes,
                                std::initializer_list<void*> arguments) {
          std::vector<void*> pointers(arguments);
          check(cudaLaunchKernel(kernel, grid, dim3(static_cast<unsigned>(threads)),
                                 pointers.data(), static_cast<std::size_t>(shared_bytes), stream));
        };
        const GemmVariantMmaSync& v = *l.variant;
        void* partial = nullptr;
        if (l.parts > 1) check(cudaMallocAsync(&partial, l.partial_bytes(), stream));
        l.split.partial = static_cast<float*>(partial);
        launch(v.kernel,
               dim3(static_cast<unsigned>(l.raster.count()), static_cast<unsigned>(l.parts)),
               v.threads, v.shared_bytes,
               {&l.a, &l.b, &l.finish, &l.split, &l.m, &l.n, &l.stages, &l.raster});
        if (l.parts == 1) return;
        launch(v.sum_kernel,
               dim3(static_cast<unsigned>(divide_up(l.n / 2, kSumThreads)),
                    static_cast<unsigned>(std::min(l.m, 1024))),
               kSumThreads, 0, {&partial, &l.parts, &l.finish, &l.m, &l.n});
        check(cudaFreeAsync(partial, stream));
      }};
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// Launches of the ring: tokens into their order, where the CTAs do not do that, then the product.
#include "kernels/skinny/sm90/ring_sm90.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/launch.hpp"
#include "kernels/frame/resident.hpp"
#include "kernels/frame/workspace.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"
#include "kernels/skinny/sm90/arrange_sm90.hpp"
#include "kernels/skinny/sm90/plan_sm90.hpp"
#include "kernels/skinny/sm90/variants_sm90.hpp"

namespace assay::kernels {
namespace {

struct Launcher {
  const SkinnyVariantSm90* variant;
  SkinnyMapsSm90 maps;
  ptx::TensorMapShape tokens;  // of maps.tokens, whose address is the workspace's
  SkinnyLayoutSm90 layout;
  int order_shared_bytes;

  void operator()(cudaStream_t stream) {
    SkinnyArgumentsSm90& a = layout.arguments;
    if (!a.one_grid) order(stream);
    void* arguments[] = {&maps, &a};
    launch_kernel(variant->kernel,
                  {.ctas = layout.grid,
                   .threads = variant->threads,
                   .shared_bytes = layout.shared_bytes,
                   .cluster = a.cluster},
                  arguments, stream);
  }

  // Puts the tokens into order in the stream's workspace, where maps.tokens has them.
  void order(cudaStream_t stream) {
    const std::size_t bytes = tokens.extents[1] * tokens.strides[0];
    void* ordered =
        static_cast<std::uint8_t*>(workspace(stream, kFlagBytesSm90 + bytes, kFlagBytesSm90)) +
        kFlagBytesSm90;
    if (ordered != tokens.base) {
      tokens.base = ordered;
      maps.tokens = ptx::encode_tensor_map(tokens);
    }
    SkinnyArgumentsSm90& a = layout.arguments;
    void* arguments[] = {&a.x, &ordered, &a.m, &a.k, &layout.row_elements};
    launch_kernel(variant->order,
                  {.ctas = layout.order_grid,
                   .threads = kSkinnyOrderThreads,
                   .shared_bytes = order_shared_bytes},
                  arguments, stream);
  }
};

// What keeps the CTAs that order tokens apart. Launched early, they take the SMs that become free
// first, and 16 of them have room on one: in rows of calls few SMs then did all of it. With so much
// shared memory that no SM has more than its share of them, 8 to 64 tokens take 2 to 11% less at
// 8192 squared (an H100; results/h100/2026-11-27-skinny/spread.csv.gz).
int shared_bytes_of_order(const void* kernel, int ctas, const std::string& name) {
  constexpr int kOfSm = 228 * 1024, kOfSystem = 1024;  // of each CTA
  const int sms = resident_clusters(kernel, 1, kSkinnyOrderThreads, kOfSm - kOfSystem, name);
  return std::max(kOfSm / divide_up(ctas, sms) / 1024 * 1024 - kOfSystem, 0);
}

}  // namespace

std::vector<KernelUse> ring_kernels_sm90(const SkinnyProblem& p) {
  const SkinnyVariantSm90& v = skinny_variant_for_sm90(p.weights, p.m);
  const int mmas = v.segments * v.steps;  // of a warpgroup, in a stage
  const KernelUse order{.kernel = v.order_name(), .sass = {waits_for_dependencies()}};
  const KernelUse product{.kernel = v.kernel_name(),
                          .sass = {{fmt::format("HGMMA.64x{}x16.F32.BF16", v.columns), mmas, mmas},
                                   {.opcode = "UTMALDG.2D", .where = SassWhere::kernel},
                                   {.opcode = "UTMALDG.3D", .where = SassWhere::kernel},
                                   waits_for_dependencies()}};
  if (one_grid_sm90(v, p.m, p.n, p.k)) return {product};
  return {order, product};
}

Plan plan_ring_sm90(const SkinnyProblem& p, const SkinnyOperands& operands,
                    const SkinnyChoiceSm90& choice) {
  const SkinnyVariantSm90& v =
      choice.form < 0 ? skinny_variant_for_sm90(p.weights, p.m)
                      : skinny_variants_sm90(p.weights)[static_cast<std::size_t>(choice.form)];
  Launcher l{.variant = &v, .maps = {}, .tokens = {}, .layout = {}, .order_shared_bytes = 0};
  const bool one_grid = choice.one_grid.value_or(one_grid_sm90(v, p.m, p.n, p.k));
  double least = 0;
  for (const int cluster : kSkinnyClustersSm90) {
    if (cluster > skinny_stages_sm90(v, p.k)) break;
    if (choice.cluster > 0 && cluster != choice.cluster) continue;
    if (one_grid && !tokens_fit_sm90(v, p.k, cluster)) continue;
    const int clusters = resident_clusters(
        v.kernel, cluster, v.threads, v.shared_bytes + v.token_slots * v.token_bytes, p.text());
    const SkinnyLayoutSm90 layout = arrange_sm90(v, p.m, p.n, p.k, clusters, cluster, one_grid);
    const double time = relative_time_sm90(v, layout);
    if (l.layout.grid == 0 || time < least) least = time, l.layout = layout;
  }
  SkinnyArgumentsSm90& a = l.layout.arguments;
  if (!one_grid)
    l.order_shared_bytes = shared_bytes_of_order(v.order, l.layout.order_grid, p.text());
  a.d = static_cast<__nv_bfloat16*>(operands.d);
  a.x = static_cast<const __nv_bfloat16*>(operands.x);
  a.row_scales = static_cast<const float*>(operands.scales);
  a.scale = operands.scale;
  const SkinnyMapShapesSm90 shapes =
      map_shapes_sm90(v, l.layout, p, operands.w, operands.scales, nullptr);
  l.maps.weights = ptx::encode_tensor_map(shapes.weights);
  if (v.scale_width > 0) l.maps.scales = ptx::encode_tensor_map(shapes.scales);
  l.tokens = shapes.tokens;
  return {.variant = fmt::format("{}_{}_c{}{}", name(p.weights), v.name(), a.cluster,
                                 one_grid ? "_one_grid" : ""),
          .run = l};
}

}  // namespace assay::kernels

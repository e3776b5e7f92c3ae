// SPDX-License-Identifier: Apache-2.0
// Launches of the ring.
#include "kernels/skinny/sm90/ring_sm90.hpp"

#include <fmt/format.h>

#include "harness/error.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/frame/launch.hpp"
#include "kernels/frame/workers/resident.hpp"
#include "kernels/skinny/sm90/arrange_sm90.hpp"
#include "kernels/skinny/sm90/plan_sm90.hpp"
#include "kernels/skinny/sm90/variants_sm90.hpp"

namespace assay::kernels {
namespace {

struct Launcher {
  const SkinnyVariantSm90* variant;
  SkinnyMapsSm90 maps;
  SkinnyLayoutSm90 layout;

  void operator()(cudaStream_t stream) {
    void* arguments[] = {&maps, &layout.arguments};
    launch_kernel(variant->kernel,
                  {.ctas = layout.grid,
                   .threads = variant->threads,
                   .shared_bytes = variant->shared_bytes,
                   .cluster = layout.arguments.cluster},
                  arguments, stream);
  }
};

}  // namespace

std::vector<KernelUse> ring_kernels_sm90(const SkinnyProblem& p) {
  const SkinnyVariantSm90& v = skinny_variant_for_sm90(p.weights, p.m);
  const int mmas = v.segments * v.steps;  // of a warpgroup, in a stage
  return {{.kernel = v.kernel_name(),
           .sass = {{fmt::format("HGMMA.64x{}x16.F32.BF16", v.columns), mmas, mmas},
                    {.opcode = "UTMALDG.2D", .where = SassWhere::kernel},
                    {.opcode = "UTMALDG.3D", .where = SassWhere::kernel},
                    waits_for_dependencies()}}};
}

Plan plan_ring_sm90(const SkinnyProblem& p, const SkinnyOperands& operands,
                    const SkinnyChoiceSm90& choice) {
  const SkinnyVariantSm90& v =
      choice.form < 0 ? skinny_variant_for_sm90(p.weights, p.m)
                      : skinny_variants_sm90(p.weights)[static_cast<std::size_t>(choice.form)];
  Launcher l{.variant = &v, .maps = {}, .layout = {}};
  double least = 0;
  for (const int cluster : kSkinnyClustersSm90) {
    if (cluster > skinny_stages_sm90(v, p.k)) break;
    if (choice.cluster > 0 && cluster != choice.cluster) continue;
    const int clusters = clusters_that_fit(v.kernel, cluster, v.threads, v.shared_bytes);
    if (clusters < 1) continue;
    const SkinnyLayoutSm90 layout = arrange_sm90(v, p.m, p.n, p.k, clusters, cluster);
    const double time = relative_time_sm90(v, layout);
    if (l.layout.grid == 0 || time < least) least = time, l.layout = layout;
  }
  if (l.layout.grid == 0) throw Error(ExitCode::unfit, p.text() + ": no cluster fits on this GPU");
  SkinnyArgumentsSm90& a = l.layout.arguments;
  a.d = static_cast<__nv_bfloat16*>(operands.d);
  a.row_scales = static_cast<const float*>(operands.scales);
  a.scale = operands.scale;
  const SkinnyMapShapesSm90 shapes = map_shapes_sm90(v, l.layout, p, operands);
  l.maps.weights = ptx::encode_tensor_map(shapes.weights);
  if (v.scale_width > 0) l.maps.scales = ptx::encode_tensor_map(shapes.scales);
  l.maps.tokens = ptx::encode_tensor_map(shapes.tokens);
  return {.variant = fmt::format("{}_{}_c{}", name(p.weights), v.name(), a.cluster), .run = l};
}

}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/launch.hpp"
#include "kernels/frame/workers/resident.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/sm90/maps_sm90.hpp"
#include "kernels/grouped/sm90/plan_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr int kBandRows = 2048;  // rows of a group whose tiles run at the same time: Raster::band

}  // namespace

GroupedE4m3LaunchSm90 launch_of_grouped_e4m3_sm90(const GroupedProblem& p,
                                                  const GroupedOperands& operands,
                                                  const BlockScaledVariantSm90& v) {
  const bool masked = p.grouping == Grouping::masked;
  const int k_blocks = blocks_of_scales(p.k), n_blocks = blocks_of_scales(p.n);
  return {.maps = map_shapes_of_block_scaled_sm90(
              v, {.a = operands.a,
                  .b = operands.b,
                  .scale_a = operands.scale_a,
                  .scale_b = operands.scale_b,
                  .d = operands.d,
                  .rows = masked ? p.groups * p.rows : p.rows,
                  .rows_b = p.groups * p.n,
                  .n = p.n,
                  .k = p.k,
                  .scale_rows_a = masked ? p.groups * k_blocks : k_blocks,
                  .scale_columns_a = p.rows,
                  .scale_rows_b = p.groups * n_blocks}),
          .groups = {.sizes = operands.sizes,
                     .groups = p.groups,
                     .masked = masked,
                     .rows = p.rows,
                     .n = p.n,
                     .k_blocks = k_blocks,
                     .n_blocks = n_blocks,
                     .band = kBandRows / (v.tile_m * v.cluster_m),
                     .d = static_cast<__nv_bfloat16*>(operands.d)}};
}

Plan plan_grouped_e4m3_sm90(const GroupedProblem& p, const GroupedOperands& operands,
                            const BlockScaledVariantSm90& v) {
  const GroupedE4m3LaunchSm90 launch = launch_of_grouped_e4m3_sm90(p, operands, v);
  GroupsSm90 groups = launch.groups;
  // How many tiles there are, the host does not know: as many CTAs as fit.
  const int grid = v.cluster_size() * resident_clusters(v.kernel, v.cluster_size(), v.threads,
                                                        v.shared_bytes, "grouped " + v.name);
  groups.places = worker_places(grid / v.cluster_size(), v.cluster_m, v.cluster_n,
                                divide_up(p.n, v.tile_n * v.cluster_n), groups.band);
  groups.meeting = meeting_of_grouped_sm90(p, grid / v.cluster_size(), v.tile_m * v.cluster_m,
                                           v.tile_n * v.cluster_n, v.tile_k);
  return {.variant = v.name,
          .run = [&v, grid, maps = launch.maps.encoded(ptx::encode_tensor_map),
                  groups](cudaStream_t stream) mutable {
            groups.meeting = with_counter_of(groups.meeting, stream);
            void* arguments[] = {&maps, &groups, &groups.k_blocks};
            launch_kernel(v.kernel,
                          {.ctas = grid, .threads = v.threads, .shared_bytes = v.shared_bytes},
                          arguments, stream);
          }};
}

std::vector<KernelUse> grouped_e4m3_kernels_sm90(const GroupedProblem& problem) {
  const BlockScaledVariantSm90& v = choose_grouped_e4m3_sm90(problem);
  // Copies of a stage: a box of each operand, and of its scales.
  return {{.kernel = v.kernel_name,
           .sass = {{"QGMMA.64x" + std::to_string(v.width) + "x32.F32.E4M3.E4M3", v.mmas, v.mmas},
                    {"UTMALDG.2D", 4, 4, SassWhere::kernel},
                    waits_for_dependencies()}}};
}

}  // namespace assay::kernels

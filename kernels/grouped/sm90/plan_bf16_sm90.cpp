// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/launch.hpp"
#include "kernels/frame/matrix_shape.hpp"
#include "kernels/frame/workers/resident.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/grouped/sm90/plan_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr int kBandRows = 2048;  // rows of a raster whose tiles run at the same time: Raster::band
constexpr int kMostColumns = 16;

// Row-major without gaps.
ptx::TensorMapShape matrix(const void* base, int rows, int columns, int box_columns, int box_rows) {
  ptx::TensorMapShape shape = matrix_shape(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, base, rows, columns,
                                           columns, box_rows, box_columns, ptx::Swizzle::bytes128);
  shape.l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;  // as the dense product's
  return shape;
}

// D for store_block()'s clipped boxes.
ptx::TensorMapShape clipped(void* base, int rows, int columns, const GemmVariantSm90& v) {
  const int box_rows = v.swapped ? v.store_columns : 16;
  const int box_columns = v.swapped ? 64 : v.store_columns;
  ptx::TensorMapShape map = matrix(base, rows, columns, box_columns, box_rows);
  const std::uint64_t row_bytes = map.strides[0];
  const auto height = static_cast<std::uint64_t>(box_rows);
  map.base = static_cast<std::uint8_t*>(base) - height * row_bytes;
  map.extents = {map.extents[0], height, map.extents[1] + 1};
  map.strides = {row_bytes, row_bytes};
  map.box.push_back(1);
  map.swizzle = box_columns > 32   ? ptx::Swizzle::bytes128
                : box_columns > 16 ? ptx::Swizzle::bytes64
                                   : ptx::Swizzle::bytes32;
  return map;
}

}  // namespace

GroupedLaunchSm90 launch_of_grouped_sm90(const GroupedProblem& p, const GroupedOperands& operands,
                                         const GemmVariantSm90& v) {
  const bool gradient = p.grouping == Grouping::gradient, masked = p.grouping == Grouping::masked;
  const int rows = masked ? p.groups * p.rows : p.rows;
  const int box_a[] = {v.swapped ? v.box_q(0) : v.box_p(0), v.swapped ? v.box_q(1) : v.box_p(1)};
  const int box_b[] = {v.swapped ? v.box_p(0) : v.box_q(0), v.swapped ? v.box_p(1) : v.box_q(1)};
  const auto a = matrix(operands.a, rows, p.k, box_a[0], box_a[1]);
  const auto b = gradient ? matrix(operands.b, rows, p.n, box_b[0], box_b[1])
                          : matrix(operands.b, p.groups * p.n, p.k, box_b[0], box_b[1]);
  return {.p = v.swapped ? b : a,
          .q = v.swapped ? a : b,
          .d = clipped(operands.d, gradient ? p.groups * p.k : rows, p.n, v),
          .groups = {.sizes = operands.sizes,
                     .groups = p.groups,
                     .masked = masked,
                     .rows = p.rows,
                     .m = p.k,
                     .n = p.n,
                     .k_steps = divide_up(p.k, v.tile_k),
                     .band = std::max(1, kBandRows / (v.tile_m * v.cluster_m))}};
}

StepMeeting meeting_of_grouped_sm90(const GroupedProblem& p, int clusters, int height, int width,
                                    int tile_k) {
  const double rows = p.grouping == Grouping::masked ? 1.0 * p.groups * p.rows : p.rows;
  return step_meeting(clusters, rows / height * p.n / width * p.k / tile_k / clusters);
}

Plan plan_grouped_bf16_sm90(const GroupedProblem& problem, const GroupedOperands& operands,
                            const GemmVariantSm90& v) {
  GroupedLaunchSm90 launch = launch_of_grouped_sm90(problem, operands, v);
  // How many tiles there are, the host does not know: as many CTAs as fit.
  const int grid = v.cluster_size() * resident_clusters(v.kernel, v.cluster_size(), v.threads,
                                                        v.shared_bytes, "grouped " + v.name);
  // Of a group's raster. Where its columns are rows of A, they are not known: enough for a block.
  const int columns = v.swapped ? kMostColumns : divide_up(problem.n, v.tile_n * v.cluster_n);
  launch.groups.places =
      worker_places(grid / v.cluster_size(), v.cluster_m, v.cluster_n, columns, launch.groups.band);
  launch.groups.meeting = meeting_of_grouped_sm90(
      problem, grid / v.cluster_size(), v.tile_m * v.cluster_m, v.tile_n * v.cluster_n, v.tile_k);
  return {.variant = v.name,
          .run = [&v, grid, groups = launch.groups, p = ptx::encode_tensor_map(launch.p),
                  q = ptx::encode_tensor_map(launch.q),
                  d = ptx::encode_tensor_map(launch.d)](cudaStream_t stream) mutable {
            groups.meeting = with_counter_of(groups.meeting, stream);
            void* arguments[] = {&p, &q, &d, &groups};
            launch_kernel(v.kernel,
                          {.ctas = grid, .threads = v.threads, .shared_bytes = v.shared_bytes},
                          arguments, stream);
          }};
}

std::vector<KernelUse> grouped_bf16_kernels_sm90(const GroupedProblem& problem) {
  const GemmVariantSm90& v = choose_grouped_usual_sm90(problem);
  const int mmas = v.tile_m / (v.pingpong ? 64 : 128) * 4;  // a consumer's, in a stage
  // Boxes of a stage: one of a k-major share, else one for each 64 columns. The first stages,
  // before the kernel before this one has ended, have a loop of their own.
  const int boxes = v.major_p == 0 ? 2 : v.tile_m / v.cluster_n / 64 + v.tile_n / v.cluster_m / 64;
  return {{.kernel = v.kernel_name,
           .sass = {{"HGMMA.64x" + std::to_string(v.tile_n) + "x16.F32.BF16", mmas, mmas},
                    {"UTMALDG.2D", 2 * boxes, 2 * boxes, SassWhere::kernel},
                    waits_for_dependencies()}}};
}

}  // namespace assay::kernels

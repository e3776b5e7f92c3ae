// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/launch.hpp"
#include "kernels/frame/workers/resident.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/sm90/maps_sm90.hpp"
#include "kernels/grouped/sm90/plan_sm90.hpp"
#include "kernels/grouped/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr int kBandRows = 2048;  // rows of a group whose tiles run at the same time: Raster::band

// Row-major, in boxes whose rows are 128 bytes under the 128-byte swizzle, or without one.
CUtensorMap matrix(CUtensorMapDataType type, int element_bytes, const void* base, int rows,
                   int columns, int row_elements, int box_rows, int box_columns) {
  const auto u64 = [](int value) { return static_cast<std::uint64_t>(value); };
  const auto u32 = [](int value) { return static_cast<std::uint32_t>(value); };
  return ptx::encode_tensor_map({.type = type,
                                 .base = const_cast<void*>(base),
                                 .extents = {u64(columns), u64(rows)},
                                 .strides = {u64(row_elements) * u64(element_bytes)},
                                 .box = {u32(box_columns), u32(box_rows)},
                                 .swizzle = box_columns * element_bytes == 128
                                                ? ptx::Swizzle::bytes128
                                                : ptx::Swizzle::none});
}

}  // namespace

Plan plan_grouped_e4m3_sm90(const GroupedProblem& p, const GroupedOperands& operands,
                            const GroupedE4m3VariantSm90& v) {
  const bool masked = p.grouping == Grouping::masked;
  const int rows = masked ? p.groups * p.rows : p.rows;
  const int k_blocks = blocks_of_scales(p.k), n_blocks = blocks_of_scales(p.n);
  GroupsSm90 groups = {.sizes = operands.sizes,
                       .groups = p.groups,
                       .masked = masked,
                       .rows = p.rows,
                       .n = p.n,
                       .k_blocks = k_blocks,
                       .n_blocks = n_blocks,
                       .band = kBandRows / (v.tile_m * v.cluster_m),
                       .d = static_cast<__nv_bfloat16*>(operands.d)};
  constexpr auto kBf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  constexpr auto kBytes = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr auto kFloat = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const BlockScaledMaps maps = {
      .a = matrix(kBytes, 1, operands.a, rows, p.k, p.k, v.tile_m / v.cluster_n, v.tile_k),
      .b =
          matrix(kBytes, 1, operands.b, p.groups * p.n, p.k, p.k, v.tile_n / v.cluster_m, v.tile_k),
      .scale_a = matrix(kFloat, 4, operands.scale_a, masked ? p.groups * k_blocks : k_blocks,
                        p.rows, scale_a_stride(p.rows), 1, v.tile_m + 4),
      .scale_b = matrix(kFloat, 4, operands.scale_b, p.groups * n_blocks, k_blocks,
                        scale_b_stride(p.k), divide_up(v.tile_n, kScaleBlock), 4),
      .d = matrix(kBf16, 2, operands.d, rows, p.n, p.n, 16, 64)};
  // How many tiles there are, the host does not know: as many CTAs as fit.
  const int grid = v.cluster_size() * resident_clusters(v.kernel, v.cluster_size(), v.threads,
                                                        v.shared_bytes, "grouped " + v.name);
  groups.places = worker_places(grid / v.cluster_size(), v.cluster_m, v.cluster_n,
                                divide_up(p.n, v.tile_n * v.cluster_n), groups.band);
  groups.meeting = meeting_of_grouped_sm90(p, grid / v.cluster_size(), v.tile_m * v.cluster_m,
                                           v.tile_n * v.cluster_n, v.tile_k);
  return {.variant = v.name,
          .run = [&v, grid, maps = maps, groups = groups,
                  steps = k_blocks](cudaStream_t stream) mutable {
            groups.meeting = with_counter_of(groups.meeting, stream);
            void* arguments[] = {&maps, &groups, &steps};
            launch_kernel(v.kernel,
                          {.ctas = grid, .threads = v.threads, .shared_bytes = v.shared_bytes},
                          arguments, stream);
          }};
}

std::vector<KernelUse> grouped_e4m3_kernels_sm90(const GroupedProblem& problem) {
  const GroupedE4m3VariantSm90& v = choose_grouped_e4m3_sm90(problem);
  // Copies of a stage: a box of each operand, and of its scales.
  return {{.kernel = v.kernel_name,
           .sass = {{"QGMMA.64x" + std::to_string(v.width) + "x32.F32.E4M3.E4M3", v.mmas, v.mmas},
                    {"UTMALDG.2D", 4, 4, SassWhere::kernel},
                    waits_for_dependencies()}}};
}

}  // namespace assay::kernels

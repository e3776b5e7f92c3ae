// SPDX-License-Identifier: Apache-2.0
// The grouped products on Hopper: how their kernels are launched.
#include <cstdint>
#include <string>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/frame/resident.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/sm90/maps_sm90.hpp"
#include "kernels/grouped/grouped.hpp"
#include "kernels/grouped/sm90/groups_sm90.hpp"
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

// Everything that a launch needs. The kernels of the two types take different maps.
template <class Maps>
struct Launcher {
  const GroupedVariantSm90* variant;
  Maps maps;
  GroupsSm90 groups;
  int k_steps;
  int grid;

  void operator()(cudaStream_t stream) {
    void* arguments[] = {&maps, &groups, &k_steps};  // gradients: no steps, which each group has
    check(cudaLaunchKernel(variant->kernel, dim3(static_cast<unsigned>(grid)),
                           dim3(static_cast<unsigned>(variant->threads)), arguments,
                           static_cast<std::size_t>(variant->shared_bytes), stream));
  }
};

Plan plan(const GroupedProblem& p, const GroupedOperands& operands) {
  const GroupedVariantSm90& v = grouped_variant_sm90(p);
  const bool masked = p.grouping == Grouping::masked;
  const int rows = masked ? p.groups * p.rows : p.rows;
  const int k_blocks = blocks_of_scales(p.k), n_blocks = blocks_of_scales(p.n);
  const GroupsSm90 groups = {.sizes = operands.sizes,
                             .groups = p.groups,
                             .masked = masked,
                             .rows = p.rows,
                             .m = p.k,
                             .n = p.n,
                             .k_blocks = k_blocks,
                             .n_blocks = n_blocks,
                             .band = kBandRows / (v.tile_m * v.cluster_m),
                             .d = static_cast<__nv_bfloat16*>(operands.d)};
  // How many tiles there are, the host does not know: as many CTAs as fit.
  const int grid = v.cluster_size() * resident_clusters(v.kernel, v.cluster_size(), v.threads,
                                                        v.shared_bytes, "grouped " + v.name);
  const int k_steps = (p.k + v.tile_k - 1) / v.tile_k;
  const int share_a = v.tile_m / v.cluster_n, share_b = v.tile_n / v.cluster_m;
  constexpr auto kBf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  constexpr auto kBytes = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr auto kFloat = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  if (p.grouping == Grouping::gradient) {
    const GroupedMapsSm90 maps = {
        .a = matrix(kBf16, 2, operands.a, p.rows, p.k, p.k, v.tile_k, 64),
        .b = matrix(kBf16, 2, operands.b, p.rows, p.n, p.n, v.tile_k, 64),
        .d = matrix(kBf16, 2, operands.d, p.groups * p.k, p.n, p.n, 16, 64)};
    return {.variant = v.name, .run = Launcher<GroupedMapsSm90>{&v, maps, groups, 0, grid}};
  }
  const CUtensorMap d = matrix(kBf16, 2, operands.d, rows, p.n, p.n, 16, 64);
  if (p.type == "bf16") {
    const GroupedMapsSm90 maps = {
        .a = matrix(kBf16, 2, operands.a, rows, p.k, p.k, share_a, v.tile_k),
        .b = matrix(kBf16, 2, operands.b, p.groups * p.n, p.k, p.k, share_b, v.tile_k),
        .d = d};
    return {.variant = v.name, .run = Launcher<GroupedMapsSm90>{&v, maps, groups, k_steps, grid}};
  }
  const BlockScaledMaps maps = {
      .a = matrix(kBytes, 1, operands.a, rows, p.k, p.k, share_a, v.tile_k),
      .b = matrix(kBytes, 1, operands.b, p.groups * p.n, p.k, p.k, share_b, v.tile_k),
      .scale_a = matrix(kFloat, 4, operands.scale_a, masked ? p.groups * k_blocks : k_blocks,
                        p.rows, scale_a_stride(p.rows), 1, v.tile_m + 4),
      .scale_b = matrix(kFloat, 4, operands.scale_b, p.groups * n_blocks, k_blocks,
                        scale_b_stride(p.k), v.tile_n / kScaleBlock, 4),
      .d = d};
  return {.variant = v.name, .run = Launcher<BlockScaledMaps>{&v, maps, groups, k_steps, grid}};
}

std::vector<KernelUse> kernels(const GroupedProblem& problem) {
  const GroupedVariantSm90& v = grouped_variant_sm90(problem);
  const bool bf16 = problem.type == "bf16";
  // Copies of a stage: a box of each operand, and of its scales; gradients, one for 64 columns.
  const int copies = problem.grouping == Grouping::gradient
                         ? v.tile_m / 64 + v.tile_n / v.cluster_m / 64
                     : bf16 ? 2
                            : 4;
  const int mmas = bf16 ? 4 : v.tile_n / 128 * 4;
  return {{.kernel = v.kernel_name,
           .sass = {{bf16 ? "HGMMA.64x" + std::to_string(v.tile_n) + "x16.F32.BF16"
                          : "QGMMA.64x128x32.F32.E4M3.E4M3",
                     mmas, mmas},
                    {"UTMALDG.2D", copies, copies, SassWhere::kernel}}}};
}

const GroupedPaths::Registration path{
    grouped_paths(),
    {.name = "sm90",
     .targets = {Target::sm_90a},
     .refusal = [](const GroupedProblem&) { return std::string(); },
     .plan = plan,
     .kernels = kernels}};

}  // namespace
}  // namespace assay::kernels

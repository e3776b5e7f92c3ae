// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/sm90/plan_sm90.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/launch.hpp"
#include "kernels/frame/workers/resident.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/sm90/dense_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/maps_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr int kBandRows = 2048;  // with 2048 columns, what 128 SMs do at a time

CUtensorMap matrix(CUtensorMapDataType type, int element_bytes, const void* base, int rows,
                   int columns, int row_elements, int box_rows, int box_columns,
                   ptx::Swizzle swizzle) {
  const auto u64 = [](int value) { return static_cast<std::uint64_t>(value); };
  const auto u32 = [](int value) { return static_cast<std::uint32_t>(value); };
  return ptx::encode_tensor_map({.type = type,
                                 .base = const_cast<void*>(base),
                                 .extents = {u64(columns), u64(rows)},
                                 .strides = {u64(row_elements) * u64(element_bytes)},
                                 .box = {u32(box_columns), u32(box_rows)},
                                 .swizzle = swizzle});
}

CUtensorMap e4m3_rows(const void* base, int rows, int k, int box_rows) {
  return matrix(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, base, rows, k, k, box_rows, 128,
                ptx::Swizzle::bytes128);
}

// Everything that a launch needs.
struct Launcher {
  const BlockScaledVariantSm90* variant;
  BlockScaledMaps maps;
  DenseBlockScaledSm90 product;
  int k_blocks;
  int grid;

  void operator()(cudaStream_t stream) {
    product.meeting = with_counter_of(product.meeting, stream);
    void* arguments[] = {&maps, &product, &k_blocks};
    launch_kernel(
        variant->kernel,
        {.ctas = grid, .threads = variant->threads, .shared_bytes = variant->shared_bytes},
        arguments, stream);
  }
};

int cluster_tiles(const BlockScaledVariantSm90& v, const BlockScaledProblem& p) {
  return divide_up(p.m, v.tile_m * v.cluster_m) * divide_up(p.n, v.tile_n * v.cluster_n);
}

// What a form takes, in nanoseconds: waves of tiles, each some time for every block along k and
// some more, against DRAM's time for the operands; the longer of the two, and a little more where
// they are alike.
double predicted_ns(const BlockScaledVariantSm90& v, const BlockScaledProblem& p) {
  // All clusters of an H200, whatever GPU it is, so that the choice is the same everywhere.
  constexpr int kSms = 132;
  constexpr double kDram = 4190;  // bytes in a nanosecond
  const double k = p.k;
  const double waves = divide_up(cluster_tiles(v, p), kSms / v.cluster_size());
  const double tiles = waves * (divide_up(p.k, v.tile_k) * v.block_ns + v.tile_ns);
  const double dram = (p.m * k + p.n * k + 2.0 * p.m * p.n) / kDram;
  return std::pow(std::pow(tiles, 4) + std::pow(dram, 4), 1.0 / 4);
}

// Tiles of 64 rows are for few rows: in several waves they take longer than the model says. Pairs
// of CTAs that share A have something to share only if it has more rows than a tile.
bool is_for(const BlockScaledVariantSm90& v, const BlockScaledProblem& p) {
  constexpr int kFewRows = 192;
  if (v.tile_m > 64) return true;
  return p.m <= kFewRows && (v.cluster_size() == 1) == (p.m <= v.tile_m);
}

// Within 3% of the best form on 94% of the 109 shapes that the times are fitted to, and on 98% of
// 45 others (results/h200/2026-11-27-choice-sweeps).
const BlockScaledVariantSm90& variant_of(const BlockScaledProblem& problem) {
  return *std::ranges::min_element(block_scaled_variants_sm90(), {},
                                   [&](const BlockScaledVariantSm90& v) {
                                     return is_for(v, problem) ? predicted_ns(v, problem) : 1e300;
                                   });
}

std::vector<KernelUse> kernels(const BlockScaledProblem& problem) {
  const BlockScaledVariantSm90& v = variant_of(problem);
  const std::string opcode = "QGMMA.64x" + std::to_string(v.width) + "x32.F32.E4M3.E4M3";
  return {
      {.kernel = v.kernel_name,
       .sass = {{opcode, v.mmas, v.mmas},
                // Of a whole stage 4; of one that is cut short 2 of A and B each and 2 of scales.
                {"UTMALDG.2D", 10, 10, SassWhere::kernel},
                waits_for_dependencies()}}};
}

const BlockScaledPaths::Registration path{
    block_scaled_paths(),
    {.name = "sm90",
     .targets = {Target::sm_90a},
     .refusal = [](const BlockScaledProblem&) { return std::string(); },
     .plan =
         [](const BlockScaledProblem& problem, const BlockScaledOperands& operands) {
           return plan_gemm_block_scaled_sm90(problem, operands);
         },
     .kernels = kernels}};

}  // namespace

Plan plan_gemm_block_scaled_sm90(const BlockScaledProblem& problem,
                                 const BlockScaledOperands& operands,
                                 const BlockScaledOptionsSm90& options) {
  const BlockScaledVariantSm90& v = options.variant ? *options.variant : variant_of(problem);
  const int m = problem.m, n = problem.n, k = problem.k;
  const int k_blocks = blocks_of_scales(k), n_blocks = blocks_of_scales(n);
  constexpr auto kFloat = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  Launcher l{.variant = &v};
  l.maps = {.a = e4m3_rows(operands.a, m, k, v.tile_m / v.cluster_n),
            .b = e4m3_rows(operands.b, n, k, v.tile_n / v.cluster_m),
            .scale_a = matrix(kFloat, 4, operands.scale_a, k_blocks, m, scale_a_stride(m), 1,
                              v.scale_rows, ptx::Swizzle::none),
            .scale_b = matrix(kFloat, 4, operands.scale_b, n_blocks, k_blocks, scale_b_stride(k),
                              v.scale_blocks, 4, ptx::Swizzle::none),
            .d = matrix(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, operands.d, m, n, n, 16, 64,
                        ptx::Swizzle::bytes128)};
  const auto cut = [](int extent, int share) {
    return extent % share == 0 ? share : extent % share;
  };
  l.product = {.edge_a = e4m3_rows(operands.a, m, k, cut(m, v.tile_m / v.cluster_n)),
               .edge_b = e4m3_rows(operands.b, n, k, cut(n, v.tile_n / v.cluster_m)),
               .m = m,
               .n = n};
  Raster& raster = l.product.raster;
  raster = {.rows = divide_up(m, v.tile_m * v.cluster_m),
            .columns = divide_up(n, v.tile_n * v.cluster_n),
            .band = options.band > 0 ? options.band : kBandRows / (v.tile_m * v.cluster_m)};
  l.k_blocks = k_blocks;
  int clusters = std::min(resident_clusters(v.kernel, v.cluster_size(), v.threads, v.shared_bytes,
                                            "gemm_block_scaled " + v.name),
                          raster.count());
  if (options.max_ctas > 0)
    clusters = std::min(clusters, std::max(options.max_ctas / v.cluster_size(), 1));
  clusters = workers_of_waves(raster.count(), clusters);
  l.product.places = worker_places(clusters, v.cluster_m, v.cluster_n, raster.columns,
                                   std::min(raster.band, raster.rows));
  l.product.meeting = step_meeting(clusters, 1.0 * l.k_blocks * raster.count() / clusters);
  l.grid = clusters * v.cluster_size();
  return {.variant = v.name, .run = l};
}

}  // namespace assay::kernels

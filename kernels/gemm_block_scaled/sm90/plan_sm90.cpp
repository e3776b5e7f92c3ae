// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_block_scaled/sm90/plan_sm90.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/error.hpp"
#include "harness/ptx/descriptor/tensor_map.hpp"
#include "kernels/frame/choice_cache.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/launch.hpp"
#include "kernels/frame/workers/resident.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/frame/workers/workspace.hpp"
#include "kernels/gemm/raster.hpp"
#include "kernels/gemm/sm90/parts_sm90.hpp"
#include "kernels/gemm_block_scaled/block_scales.hpp"
#include "kernels/gemm_block_scaled/sm90/dense_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/maps_sm90.hpp"
#include "kernels/gemm_block_scaled/sm90/variant_sm90.hpp"

namespace assay::kernels {
namespace {

constexpr int kBandRows = 2048;  // with 2048 columns, what 128 SMs do at a time

// Everything that a launch needs.
struct Launcher {
  const BlockScaledVariantSm90* variant;
  BlockScaledMaps maps;
  DenseBlockScaledSm90 product;
  int k_blocks;
  int grid;
  BlockScaledPartsSm90 parts;  // with `product`, if reduce.parts is not 0
  ReduceArgumentsSm90 reduce;

  void operator()(cudaStream_t stream) {
    if (reduce.parts > 0) return split(stream);
    product.meeting = with_counter_of(product.meeting, stream);
    void* arguments[] = {&maps, &product, &k_blocks};
    launch_kernel(
        variant->kernel,
        {.ctas = grid, .threads = variant->threads, .shared_bytes = variant->shared_bytes},
        arguments, stream);
  }

  void split(cudaStream_t stream) {
    parts.partials = partials_sm90(workspace(stream, bytes_of_partials_sm90(*variant, grid)));
    reduce.partials = parts.partials;
    void* arguments[] = {&maps, &parts, &k_blocks};
    launch_kernel(
        variant->parts.kernel,
        {.ctas = grid, .threads = variant->threads, .shared_bytes = variant->shared_bytes},
        arguments, stream);
    launch_reduce_sm90(variant->reduce.kernel, reduce, stream);
  }
};

constexpr int kSms = 132;  // an H200's, whatever GPU it is: the choice is the same everywhere

int cluster_tiles(const BlockScaledVariantSm90& v, const BlockScaledProblem& p) {
  return divide_up(p.m, v.tile_m * v.cluster_m) * divide_up(p.n, v.tile_n * v.cluster_n);
}

// What a form takes, in nanoseconds: waves of tiles, each some time for every block along k and
// some more, against DRAM's time for the operands; the longer of the two, and a little more where
// they are alike.
double predicted_ns(const BlockScaledVariantSm90& v, const BlockScaledProblem& p, int parts) {
  // Bytes in a nanosecond: less of parts, which read from several places along k at once.
  const double rate = parts == 1 ? 4190 : 3800;
  const double k = p.k;
  const int all = cluster_tiles(v, p) * parts;
  const double waves = divide_up(all, kSms / v.cluster_size());
  const double blocks = divide_up(divide_up(p.k, v.tile_k), parts);
  const double tiles = waves * (blocks * v.block_ns + v.tile_ns);
  const double dram = (p.m * k + p.n * k + 2.0 * p.m * p.n) / rate;
  // The kernel that adds parts: 2,250 ns, and 2,000 bytes of sums in each further one.
  const double left = 4.0 * all * v.cluster_size() * v.tile_m * v.tile_n;
  const double reduce = parts == 1 ? 0 : 2250 + left / 2000;
  return std::pow(std::pow(tiles, 4) + std::pow(dram, 4), 1.0 / 4) + reduce;
}

// Tiles of 64 rows are for few rows: in several waves they take longer than the model says, of
// which parts have but one. Pairs of CTAs that share A have something to share only if it has more
// rows than a tile.
bool is_for(const BlockScaledVariantSm90& v, const BlockScaledProblem& p, int parts) {
  constexpr int kFewRows = 192;
  if (v.tile_m > 64) return true;
  return (parts > 1 || p.m <= kFewRows) && (v.cluster_size() == 1) == (p.m <= v.tile_m);
}

// Within 3% of the best form on 94% of the 109 shapes that the times are fitted to, and on 98% of
// 45 others (results/h200/2026-11-27-choice-sweeps). With parts, on 88% of the 75 shapes of few
// tiles that their constants are fitted to, and on 88% of 40 others, 0.8% and 1.1% behind it in the
// mean (results/h200/2026-11-29-block-scaled-parts).
BlockScaledOptionsSm90 choose(const BlockScaledProblem& problem) {
  BlockScaledOptionsSm90 best;
  double least = 1e300;
  const auto consider = [&](const BlockScaledVariantSm90& v, int parts) {
    if (!is_for(v, problem, parts)) return;
    const double ns = predicted_ns(v, problem, parts);
    if (ns < least) {
      least = ns;
      best = {.variant = &v, .parts = parts};
    }
  };
  for (const BlockScaledVariantSm90& v : block_scaled_variants_sm90()) {
    consider(v, 1);
    for (const int parts : parts_of_block_scaled_sm90(v, problem)) consider(v, parts);
  }
  return best;
}
BlockScaledOptionsSm90 choice_of(const BlockScaledProblem& p) {
  static ChoiceCache<std::array<int, 3>, BlockScaledOptionsSm90> made;
  return made.get({p.m, p.n, p.k}, [&] { return choose(p); });
}

std::vector<KernelUse> kernels(const BlockScaledProblem& problem) {
  const BlockScaledOptionsSm90 choice = choice_of(problem);
  const BlockScaledVariantSm90& v = *choice.variant;
  const bool split = choice.parts > 1;
  const std::string opcode = "QGMMA.64x" + std::to_string(v.width) + "x32.F32.E4M3.E4M3";
  std::vector<KernelUse> all = {
      {.kernel = split ? v.parts.name : v.kernel_name,
       .sass = {{opcode, v.mmas, v.mmas},
                // Of a whole stage 4; of one that is cut short 2 of A and B each and 2 of scales.
                {"UTMALDG.2D", 10, 10, SassWhere::kernel},
                waits_for_dependencies()}}};
  if (split) all.push_back({.kernel = v.reduce.name, .sass = {waits_for_dependencies()}});
  return all;
}

// A cluster for each part. What adds them takes tiles as the dense product's: P is A.
Plan plan_of_parts(const Launcher& whole, const BlockScaledOperands& operands, int parts) {
  Launcher l = whole;
  const BlockScaledVariantSm90& v = *l.variant;
  const Raster& raster = l.product.raster;
  const int clusters = raster.count() * parts;
  if (v.parts.kernel == nullptr || clusters * v.cluster_size() > kSms)
    throw Error(ExitCode::defect, "gemm_block_scaled " + v.name + ": no such number of parts");
  resident_clusters(v.parts.kernel, v.cluster_size(), v.threads, v.shared_bytes,
                    "gemm_block_scaled " + v.name);  // lets the kernel have its shared memory
  l.product.places = worker_places(clusters, v.cluster_m, v.cluster_n, raster.columns,
                                   std::min(raster.band, raster.rows));
  l.grid = clusters * v.cluster_size();
  l.parts = parts_of_launch_sm90(l.product, l.k_blocks, parts);
  l.reduce = reduce_of_sm90(v, PreparedRaster(raster), parts, l.product.m, l.product.n,
                            OutputType::bf16, operands.d);
  return {.variant = v.name + " split " + std::to_string(parts), .run = l};
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

std::vector<int> parts_of_block_scaled_sm90(const BlockScaledVariantSm90& v,
                                            const BlockScaledProblem& p) {
  constexpr int kLeastBlocks = 8;  // of a part: what is saved must pay for the other kernel
  std::vector<int> all;
  if (v.parts.kernel == nullptr) return all;
  const int most = kSms / v.cluster_size() / cluster_tiles(v, p);
  for (const int parts : {most, most / 2})
    if (parts > 1 && blocks_of_scales(p.k) / parts >= kLeastBlocks) all.push_back(parts);
  return all;
}

BlockScaledLaunchSm90 launch_of_block_scaled_sm90(const BlockScaledProblem& p,
                                                  const BlockScaledOperands& operands,
                                                  const BlockScaledVariantSm90& v, int band) {
  const int k_blocks = blocks_of_scales(p.k);
  BlockScaledLaunchSm90 l{
      .maps = map_shapes_of_block_scaled_sm90(v, {.a = operands.a,
                                                  .b = operands.b,
                                                  .scale_a = operands.scale_a,
                                                  .scale_b = operands.scale_b,
                                                  .d = operands.d,
                                                  .rows = p.m,
                                                  .rows_b = p.n,
                                                  .n = p.n,
                                                  .k = p.k,
                                                  .scale_rows_a = k_blocks,
                                                  .scale_columns_a = p.m,
                                                  .scale_rows_b = blocks_of_scales(p.n)}),
      .edge_a = {},
      .edge_b = {},
      .product = {.raster = {.rows = divide_up(p.m, v.tile_m * v.cluster_m),
                             .columns = divide_up(p.n, v.tile_n * v.cluster_n),
                             .band = band},
                  .m = p.m,
                  .n = p.n},
      .k_blocks = k_blocks};
  const auto edge = [](ptx::TensorMapShape map, int rows) {
    const int share = static_cast<int>(map.box[1]);
    if (rows % share != 0) map.box[1] = static_cast<std::uint32_t>(rows % share);
    return map;
  };
  l.edge_a = edge(l.maps.a, p.m);
  l.edge_b = edge(l.maps.b, p.n);
  return l;
}

BlockScaledPartsSm90 parts_of_launch_sm90(const DenseBlockScaledSm90& product, int k_blocks,
                                          int parts) {
  return {.product = product,
          .blocks_each = k_blocks / parts,
          .blocks_over = k_blocks % parts,
          .partials = nullptr};
}

Plan plan_gemm_block_scaled_sm90(const BlockScaledProblem& problem,
                                 const BlockScaledOperands& operands,
                                 const BlockScaledOptionsSm90& asked) {
  BlockScaledOptionsSm90 options = asked;
  if (!options.variant) {
    const BlockScaledOptionsSm90 choice = choice_of(problem);
    options.variant = choice.variant;
    options.parts = choice.parts;
  }
  const BlockScaledVariantSm90& v = *options.variant;
  const BlockScaledLaunchSm90 launch = launch_of_block_scaled_sm90(
      problem, operands, v, options.band > 0 ? options.band : kBandRows / (v.tile_m * v.cluster_m));
  Launcher l{.variant = &v};
  l.maps = launch.maps.encoded(ptx::encode_tensor_map);
  l.product = launch.product;
  l.product.edge_a = ptx::encode_tensor_map(launch.edge_a);
  l.product.edge_b = ptx::encode_tensor_map(launch.edge_b);
  l.k_blocks = launch.k_blocks;
  const Raster& raster = l.product.raster;
  if (options.parts > 1) return plan_of_parts(l, operands, options.parts);
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

// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/sm90/arrange_sm90.hpp"

#include <cstdint>
#include <limits>

#include "kernels/frame/divide_up.hpp"

namespace assay::kernels {

int skinny_stages_sm90(const SkinnyVariantSm90& v, int k) { return divide_up(k, v.stage_elements); }

SkinnyLayoutSm90 arrange_sm90(const SkinnyVariantSm90& v, int m, int n, int k, int clusters,
                              int cluster) {
  SkinnyLayoutSm90 l;
  SkinnyArgumentsSm90& a = l.arguments;
  a.m = m, a.n = n, a.k = k;
  a.cluster = cluster;
  const int stages = skinny_stages_sm90(v, k);
  a.stages_each = stages / cluster, a.stages_rest = stages % cluster;
  // Rows in eights, which a swizzle keeps together.
  const int eights = divide_up(divide_up(n, 8), clusters);
  a.passes = divide_up(eights, kSkinnyRowBoxes * 8);
  a.box_rows = 8 * divide_up(eights, a.passes * kSkinnyRowBoxes);
  l.grid = divide_up(n, a.passes * kSkinnyRowBoxes * a.box_rows) * cluster;
  a.whole_blocks = k % 64 == 0;
  return l;
}

// A pass ends in sums that the CTAs of a cluster exchange, which takes as long as 200 elements, and
// a CTA more in the cluster as long as 50. Three and six CTAs were slow in more than one pass, up
// to 1.3 times as long as this says (10240x8192). On average the choice takes 1.002 times as long
// alone as the best of one to eight CTAs, and 1.004 times in rows of calls, at worst 1.10 and 1.11
// (23 layers on an H200: results/h200/2026-11-27-skinny-in-place).
double relative_time_sm90(const SkinnyVariantSm90& v, const SkinnyLayoutSm90& l) {
  const SkinnyArgumentsSm90& a = l.arguments;
  if (a.cluster % 3 == 0 && a.passes > 1) return std::numeric_limits<double>::infinity();
  const int stages = a.stages_each + (a.stages_rest > 0);
  return a.passes * (stages * v.stage_elements + 200.0 + 50.0 * (a.cluster - 1));
}

SkinnyLayoutSm90 usual_layout_sm90(const SkinnyVariantSm90& v, int m, int n, int k) {
  constexpr int kSms = 132;  // of an H100 SXM or H200
  SkinnyLayoutSm90 best;
  for (const int cluster : kSkinnyClustersSm90) {
    if (cluster > skinny_stages_sm90(v, k)) break;
    const SkinnyLayoutSm90 l = arrange_sm90(v, m, n, k, kSms / cluster, cluster);
    if (best.grid == 0 || relative_time_sm90(v, l) < relative_time_sm90(v, best)) best = l;
  }
  return best;
}

SkinnyMapShapesSm90 map_shapes_sm90(const SkinnyVariantSm90& v, const SkinnyLayoutSm90& l,
                                    const SkinnyProblem& p, const SkinnyOperands& operands) {
  const auto u32 = [](int value) { return static_cast<std::uint32_t>(value); };
  const auto u64 = [](auto value) { return static_cast<std::uint64_t>(value); };
  // Of the first `bytes` of each of n rows, in boxes. TMA makes what lies behind them zeros.
  const auto rows = [&](const void* base, std::uint64_t bytes, std::uint64_t stride, int box_bytes,
                        ptx::Swizzle swizzle) {
    return ptx::TensorMapShape{.type = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                               .base = const_cast<void*>(base),
                               .extents = {bytes, u64(p.n)},
                               .strides = {stride},
                               .box = {u32(box_bytes), u32(l.arguments.box_rows)},
                               .swizzle = swizzle};
  };
  SkinnyMapShapesSm90 shapes;
  const std::uint64_t of_weights = u64(p.weight_bytes()) / u64(p.n);
  shapes.weights = rows(operands.w, of_weights, of_weights, v.line_bytes,
                        v.line_bytes == 128 ? ptx::Swizzle::bytes128 : ptx::Swizzle::bytes64);
  if (v.scale_width > 0)
    shapes.scales = rows(operands.scales, u64(scales_of_row_bytes(p.weights, p.k)),
                         u64(scale_row_bytes(p.weights, p.k)), v.scale_width, ptx::Swizzle::none);
  const std::uint64_t row_bytes = u64(p.k) * 2;
  shapes.tokens.base = const_cast<void*>(operands.x);
  if (l.arguments.whole_blocks) {
    shapes.tokens.extents = {64, u64(p.m), u64(p.k / 64)};
    shapes.tokens.strides = {row_bytes, 128};
    shapes.tokens.box = {64, u32(v.columns), u32(v.stage_elements / 64)};
  } else {
    shapes.tokens.extents = {u64(p.k), u64(p.m)};
    shapes.tokens.strides = {row_bytes};
    shapes.tokens.box = {64, u32(v.columns)};
  }
  return shapes;
}

}  // namespace assay::kernels

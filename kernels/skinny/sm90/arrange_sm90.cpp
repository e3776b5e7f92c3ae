// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/sm90/arrange_sm90.hpp"

#include <cstdint>

#include "kernels/frame/divide_up.hpp"

namespace assay::kernels {

int skinny_stages_sm90(const SkinnyVariantSm90& v, int k) { return divide_up(k, v.stage_elements); }

bool tokens_fit_sm90(const SkinnyVariantSm90& v, int k, int cluster) {
  return divide_up(skinny_stages_sm90(v, k), cluster) <= v.token_slots;
}

SkinnyLayoutSm90 arrange_sm90(const SkinnyVariantSm90& v, int m, int n, int k, int clusters,
                              int cluster, bool one_grid) {
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
  l.row_elements = divide_up(k, v.segment) * v.segment;
  a.one_grid = one_grid;
  l.shared_bytes =
      v.shared_bytes + (one_grid ? divide_up(stages, cluster) : v.stages) * v.token_bytes;
  if (!one_grid)
    l.order_grid = divide_up(m * (l.row_elements / v.segment * v.units), kSkinnyOrderThreads);
  return l;
}

// A pass ends in sums that the CTAs of a cluster exchange, which takes as long as 1,600 elements,
// and a CTA more in the cluster as long as 250 (from a sweep of clusters of 1 to 4 on an H100, at
// sizes where these were nearly as fast as each other).
double relative_time_sm90(const SkinnyVariantSm90& v, const SkinnyLayoutSm90& l) {
  const SkinnyArgumentsSm90& a = l.arguments;
  const int stages = a.stages_each + (a.stages_rest > 0);
  return a.passes * (stages * v.stage_elements + 1600.0 + 250.0 * (a.cluster - 1));
}

SkinnyLayoutSm90 usual_layout_sm90(const SkinnyVariantSm90& v, int m, int n, int k) {
  constexpr int kSms = 132;  // of an H100 SXM or H200
  SkinnyLayoutSm90 best;
  for (const int cluster : kSkinnyClustersSm90) {
    if (cluster > skinny_stages_sm90(v, k)) break;
    const SkinnyLayoutSm90 l = arrange_sm90(v, m, n, k, kSms / cluster, cluster, false);
    if (best.grid == 0 || relative_time_sm90(v, l) < relative_time_sm90(v, best)) best = l;
  }
  return best;
}

// A grid before takes 1.5 to 2 us of a call. CTAs that put tokens into order themselves take 0.88
// times as long alone, and 0.83 times in rows of calls, with 1 and 4 tokens and up to 4,096
// elements of k for a CTA; 0.98 and 0.91 times with 16 and up to 1,024. Beyond that they are
// slower, and so are larger clusters than are best else (264 shapes on an H200:
// results/h200/2026-11-27-skinny-one-grid).
bool one_grid_sm90(const SkinnyVariantSm90& v, int m, int n, int k) {
  const int most = v.columns <= 8 ? 4096 : v.columns <= 16 ? 1024 : 0;
  const int cluster = usual_layout_sm90(v, m, n, k).arguments.cluster;
  const int stages = divide_up(skinny_stages_sm90(v, k), cluster);
  return stages * v.stage_elements <= most && tokens_fit_sm90(v, k, cluster);
}

SkinnyMapShapesSm90 map_shapes_sm90(const SkinnyVariantSm90& v, const SkinnyLayoutSm90& l,
                                    const SkinnyProblem& p, const void* w, const void* scales,
                                    const void* ordered) {
  const auto u32 = [](int value) { return static_cast<std::uint32_t>(value); };
  const auto u64 = [](auto value) { return static_cast<std::uint64_t>(value); };
  // Of the bytes of n rows, in boxes.
  const auto rows = [&](const void* base, std::uint64_t bytes, int box_bytes,
                        ptx::Swizzle swizzle) {
    return ptx::TensorMapShape{.type = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                               .base = const_cast<void*>(base),
                               .extents = {bytes, u64(p.n)},
                               .strides = {bytes},
                               .box = {u32(box_bytes), u32(l.arguments.box_rows)},
                               .swizzle = swizzle};
  };
  SkinnyMapShapesSm90 shapes;
  shapes.weights = rows(w, u64(p.weight_bytes()) / u64(p.n), v.line_bytes,
                        v.line_bytes == 128 ? ptx::Swizzle::bytes128 : ptx::Swizzle::bytes64);
  if (v.scale_width > 0)
    shapes.scales =
        rows(scales, u64(scale_row_bytes(p.weights, p.k)), v.scale_width, ptx::Swizzle::none);
  shapes.tokens = {.base = const_cast<void*>(ordered),
                   .extents = {64, u64(p.m), u64(divide_up(l.row_elements, 64))},
                   .strides = {u64(l.row_elements) * 2, 128},
                   .box = {64, u32(v.columns), u32(v.stage_elements / 64)}};
  return shapes;
}

}  // namespace assay::kernels

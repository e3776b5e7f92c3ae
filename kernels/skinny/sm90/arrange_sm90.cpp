// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/sm90/arrange_sm90.hpp"

#include <cstdint>

#include "kernels/frame/divide_up.hpp"

namespace assay::kernels {

int skinny_stages_sm90(const SkinnyVariantSm90& v, int k) { return divide_up(k, v.stage_elements); }

SkinnyLayoutSm90 arrange_sm90(const SkinnyVariantSm90& v, int m, int n, int k, int clusters,
                              int cluster) {
  SkinnyLayoutSm90 l;
  SkinnyArgumentsSm90& a = l.arguments;
  a.m = m, a.n = n;
  a.cluster = cluster;
  const int stages = skinny_stages_sm90(v, k);
  a.stages_each = stages / cluster, a.stages_rest = stages % cluster;
  // Rows in eights, which a swizzle keeps together.
  const int eights = divide_up(divide_up(n, 8), clusters);
  a.passes = divide_up(eights, kSkinnyRowBoxes * 8);
  a.box_rows = 8 * divide_up(eights, a.passes * kSkinnyRowBoxes);
  l.grid = divide_up(n, a.passes * kSkinnyRowBoxes * a.box_rows) * cluster;
  l.row_elements = divide_up(k, v.segment) * v.segment;
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

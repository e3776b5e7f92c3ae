// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/sm90/plan_sm90.hpp"

#include <gtest/gtest.h>

#include "kernels/gemm/gemm.hpp"
#include "kernels/skinny/shapes.hpp"
#include "kernels/skinny/sm90/arrange_sm90.hpp"

namespace assay::kernels {
namespace {

TEST(SkinnySm90, TakesTheDenseProductFromTwoTokensOn) {
  const auto way = [](int m, int n, int k) { return way_sm90({m, n, k}); };
  EXPECT_EQ(way(2, 6144, 4096), SkinnyWaySm90::dense);
  EXPECT_EQ(way(64, 8192, 8192), SkinnyWaySm90::dense);
  // One token: where rows are short, or many and long.
  EXPECT_EQ(way(1, 6144, 4096), SkinnyWaySm90::one_token);
  EXPECT_EQ(way(1, 4096, 1536), SkinnyWaySm90::dense);
  EXPECT_EQ(way(1, 8192, 8192), SkinnyWaySm90::dense);
  // Too long to lie beside a deep queue.
  EXPECT_EQ(way(1, 4096, 28672), SkinnyWaySm90::one_token);
  EXPECT_EQ(way(1, 4096, 53248), SkinnyWaySm90::dense);
  // Rows of D that begin anywhere.
  EXPECT_EQ(way(16, 8190, 8192), SkinnyWaySm90::plain);
  EXPECT_EQ(way(1, 8190, 8192), SkinnyWaySm90::one_token);
}

TEST(SkinnySm90, TakesTheRingForPackedWeights) {
  for (const SkinnyWeights weights : kSkinnyWeights) {
    if (weights == SkinnyWeights::bf16) continue;
    // One token: but where passes are many, or weights of 2 bits.
    EXPECT_EQ(way_sm90({1, 4096, 1536, weights}), SkinnyWaySm90::ring);
    EXPECT_EQ(way_sm90({1, 10240, 8192, weights}), SkinnyWaySm90::ring);
    EXPECT_EQ(way_sm90({1, 128256, 4096, weights}),
              weight_bits(weights) == 4 ? SkinnyWaySm90::ring : SkinnyWaySm90::one_token);
    EXPECT_EQ(way_sm90({1, 16384, 16384, weights}),
              weight_bits(weights) == 2 ? SkinnyWaySm90::one_token : SkinnyWaySm90::ring);
    for (const int m : {2, 64})
      for (const int n : {1, 8190, 16384})
        EXPECT_EQ(way_sm90({m, n, 53248, weights}), SkinnyWaySm90::ring);
  }
}

// What is verified and shown are the kernels that run.
TEST(SkinnySm90, NamesTheKernelsThatRun) {
  for (const SkinnyLayer& layer : skinny_layers())
    for (const SkinnyWeights weights : kSkinnyWeights)
      for (const int m : kSkinnyTokens) {
        const SkinnyProblem p{m, layer.n, layer.k, weights};
        const auto used = skinny_paths().choose(p, Target::sm_90a).kernels(p);
        const SkinnyWaySm90 way = way_sm90(p);
        ASSERT_EQ(used.size(), 1u);
        EXPECT_TRUE(used.back().kernel.starts_with(way == SkinnyWaySm90::dense ? "gemm_"
                                                   : way == SkinnyWaySm90::ring
                                                       ? "skinny_sm90<"
                                                       : "skinny_product<"))
            << p.text() << ": " << used.back().kernel;
      }
}

// The dense product's workspace, tensor maps and rows need no more than skinny operands promise.
TEST(SkinnySm90, WhatIsHandedOverIsValid) {
  for (const int m : {1, 2, 3, 63, 64})
    for (const int n : {8, 1000, 8192})
      for (const int k : {8, 2568, 53248}) {
        const SkinnyProblem p{m, n, k};
        require_valid(p);
        if (way_sm90(p) == SkinnyWaySm90::dense)
          EXPECT_NO_THROW(require_valid(GemmProblem{.m = m, .n = n, .k = k}));
      }
}

// All rows are somebody's, no cluster is without, and all stages of k are.
TEST(SkinnySm90, LayoutsHaveAllRowsAndStages) {
  for (const SkinnyWeights weights : kSkinnyWeights)
    for (const SkinnyVariantSm90& v : skinny_variants_sm90(weights))
      for (const int n : {1, 8, 77, 2112, 4096, 8192, 57344, 300001})
        for (const int k : {1, 3, 64})
          for (const int clusters : {1, 16, 43, 66, 132})
            for (const int cluster : {1, 2, 3, 8}) {
              const int elements = k * skinny_step(weights);
              const int stages = skinny_stages_sm90(v, elements);
              if (cluster > stages) continue;
              const SkinnyLayoutSm90 l = arrange_sm90(v, 1, n, elements, clusters, cluster);
              const SkinnyArgumentsSm90& a = l.arguments;
              const std::int64_t rows = std::int64_t{a.passes} * kSkinnyRowBoxes * a.box_rows;
              const int used = l.grid / cluster;
              EXPECT_EQ(l.grid % cluster, 0);
              EXPECT_LE(used, clusters);
              EXPECT_GE(rows * used, n);
              EXPECT_LT(rows * (used - 1), n);
              EXPECT_EQ(a.box_rows % 8, 0);
              EXPECT_LE(a.box_rows, 64);
              EXPECT_EQ(a.stages_each * cluster + a.stages_rest, stages);
              EXPECT_LT(a.stages_rest, cluster);
              EXPECT_GE(a.stages_each, 1);
              EXPECT_GE(std::int64_t{stages} * v.stage_elements, elements);
            }
}

// What fills up a row of scales may be NaN, and a scale is multiplied by zeros behind k too.
TEST(SkinnySm90, WhatFillsUpRowsOfScalesIsNotLoaded) {
  const SkinnyProblem p{8, 4096, 11008, SkinnyWeights::s4};
  const SkinnyVariantSm90& v = skinny_variants_sm90(p.weights).front();
  const SkinnyLayoutSm90 l = arrange_sm90(v, p.m, p.n, p.k, 66, 2);
  const auto scales = map_shapes_sm90(v, l, p, {}).scales;
  EXPECT_EQ(scales.extents[0], 172u);
  EXPECT_EQ(scales.strides[0], 176u);
}

// At 8192 squared on 132 SMs: with clusters of two CTAs every row of an MMA is used, and that was
// the fastest on an H100.
TEST(SkinnySm90, PrefersClustersThatFillTheirTiles) {
  const SkinnyVariantSm90& v = skinny_variants_sm90(SkinnyWeights::s4).front();
  const auto time = [&](int cluster) {
    return relative_time_sm90(v, arrange_sm90(v, 8, 8192, 8192, 132 / cluster, cluster));
  };
  for (const int cluster : {1, 3, 4}) EXPECT_LT(time(2), time(cluster)) << cluster;
}

}  // namespace
}  // namespace assay::kernels

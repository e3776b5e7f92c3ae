// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/sm90/plan_sm90.hpp"

#include <gtest/gtest.h>

#include "kernels/gemm/gemm.hpp"
#include "kernels/skinny/shapes.hpp"

namespace assay::kernels {
namespace {

TEST(SkinnySm90, HandsOverFromTwoTokensOn) {
  const auto hands_over = [](int m, int n, int k) { return hands_over_sm90({m, n, k}); };
  EXPECT_FALSE(hands_over(1, 8192, 8192));
  EXPECT_TRUE(hands_over(2, 8192, 8192));
  EXPECT_TRUE(hands_over(64, 8192, 8192));
  // One token, too long to lie beside a deep queue.
  EXPECT_FALSE(hands_over(1, 8192, 28672));
  EXPECT_TRUE(hands_over(1, 16384, 53248));
  // Rows of D that begin anywhere.
  EXPECT_FALSE(hands_over(16, 8190, 8192));
}

TEST(SkinnySm90, PackedWeightsStay) {
  for (const SkinnyWeights weights : kSkinnyWeights) {
    if (weights == SkinnyWeights::bf16) continue;
    for (const int m : {1, 2, 64}) EXPECT_FALSE(hands_over_sm90({m, 16384, 53248, weights}));
  }
}

// What is verified and shown is the kernel that runs.
TEST(SkinnySm90, NamesTheKernelThatRuns) {
  for (const SkinnyLayer& layer : skinny_layers())
    for (const int m : kSkinnyTokens) {
      const SkinnyProblem p{m, layer.n, layer.k};
      const auto used = skinny_paths().choose(p, Target::sm_90a).kernels(p);
      ASSERT_EQ(used.size(), 1u);
      EXPECT_EQ(used[0].kernel.starts_with("gemm_"), hands_over_sm90(p)) << used[0].kernel;
    }
}

// The dense product's workspace, tensor maps and rows need no more than skinny operands promise.
TEST(SkinnySm90, WhatIsHandedOverIsValid) {
  for (const int m : {1, 2, 3, 63, 64})
    for (const int n : {8, 1000, 8192})
      for (const int k : {8, 2568, 53248}) {
        const SkinnyProblem p{m, n, k};
        require_valid(p);
        if (hands_over_sm90(p)) EXPECT_NO_THROW(require_valid(GemmProblem{.m = m, .n = n, .k = k}));
      }
}

}  // namespace
}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/gemm/mma_sync/plan.hpp"

namespace assay::kernels {
namespace {

TEST(GemmMmaSync, RowsHaveAsManyBytesAsTheyTake) {
  const GemmProblem longest{.m = 1, .n = 16, .k = 1 << 29};
  EXPECT_EQ(refusal_mma_sync(longest), "");
  const GemmMmaSyncLaunch l = launch_mma_sync(longest, {}, true, 1);
  EXPECT_EQ(l.a.row_bytes, 1 << 30);
  EXPECT_EQ(l.b.bytes, 1 << 30);
}

TEST(GemmMmaSync, RefusesByName) {
  const GemmProblem right{.m = 64, .n = 64, .k = 64};
  EXPECT_EQ(refusal_mma_sync(right), "");
  const auto refusal = [&](auto change) {
    GemmProblem p = right;
    change(p);
    return refusal_mma_sync(p);
  };
  EXPECT_EQ(refusal([](GemmProblem& p) { p.type = "f32"; }),
            "does bf16, f16, and e4m3 and e5m2 by each other, not f32 by f32");
  EXPECT_EQ(refusal([](GemmProblem& p) { p.type_b = "f16"; }),
            "does bf16, f16, and e4m3 and e5m2 by each other, not bf16 by f16");
  EXPECT_EQ(refusal([](GemmProblem& p) { p.type_d = "e4m3"; }),
            "stores bf16, f16 and f32, not e4m3");
  EXPECT_EQ(refusal([](GemmProblem& p) { p.type = "e4m3"; }), "stores bf16, f16 and f32, not e4m3");
  EXPECT_EQ(refusal([](GemmProblem& p) { p.layout = "xy"; }),
            "knows the layouts nt, nn, tn and tt, not xy");
  EXPECT_EQ(refusal([](GemmProblem& p) {
              p.type = "e4m3";
              p.type_d = "bf16";
              p.layout = "nn";
            }),
            "does 8-bit operands in layout nt only, not nn");
  EXPECT_EQ(refusal([](GemmProblem& p) { p.n = 60; }),
            "needs rows of whole 16-byte pieces: n and k multiples of 8");
  EXPECT_EQ(refusal([](GemmProblem& p) {
              p.m = 65;
              p.layout = "tt";
            }),
            "needs rows of whole 16-byte pieces: n and k and m multiples of 8");
  EXPECT_EQ(refusal([](GemmProblem& p) { p.m = (1 << 29) + 1; }), "does sizes up to 2^29");
  EXPECT_EQ(refusal([](GemmProblem& p) {
              p.m = 1 << 29;
              p.n = 1 << 29;
            }),
            "does up to 2^31 - 1 tiles");
}

// What it accepts has been compiled: no combination is forgotten.
TEST(GemmMmaSync, HasAFormForAllThatItAccepts) {
  int forms = 0;
  for (const char* a : {"bf16", "f16", "e4m3", "e5m2"})
    for (const char* b : {"bf16", "f16", "e4m3", "e5m2"})
      for (const char* layout : {"nt", "nn", "tn", "tt"}) {
        const GemmProblem p{
            .m = 64, .n = 64, .k = 64, .type = a, .layout = layout, .type_b = b, .type_d = "f16"};
        if (!refusal_mma_sync(p).empty()) continue;
        for (const bool small : {false, true}) {
          ++forms;
          EXPECT_NO_THROW(gemm_mma_sync_variant(a, b, layout, small)) << a << b << layout;
        }
      }
  EXPECT_EQ(forms, 24);
}

TEST(GemmMmaSync, IsChosenWhereNoOtherPathDoesTheProblem) {
  const GemmProblem f32_out{.m = 64, .n = 64, .k = 64, .type_d = "f32"};
  EXPECT_EQ(gemm_paths().choose(f32_out, Target::sm_89).name, "mma_sync");
  const GemmProblem plain{.m = 64, .n = 64, .k = 64};
  EXPECT_NE(gemm_paths().choose(plain, Target::sm_90a).name, "mma_sync");
}

TEST(GemmMmaSync, SplitsLongSumsOfFewTiles) {
  const auto parts = [](int m, int n, int k) {
    return parts_of_mma_sync({.m = m, .n = n, .k = k});
  };
  EXPECT_EQ(parts(4096, 4096, 4096), 1);
  EXPECT_EQ(parts(16, 8192, 8192), 1);  // 128 small tiles
  EXPECT_EQ(parts(16, 4096, 8192), 4);  // 64
  EXPECT_EQ(parts(256, 256, 65536), 16);
  EXPECT_EQ(parts(64, 64, 256), 1);  // eight stages
  EXPECT_EQ(parts(64, 64, 1024), 4);
}

TEST(GemmMmaSync, TakesTheSmallTileWhereTheLargeOneLeavesSmsIdle) {
  EXPECT_TRUE(wants_small_tile({.m = 1024, .n = 1024, .k = 64}));
  EXPECT_FALSE(wants_small_tile({.m = 2048, .n = 1024, .k = 64}));
}

}  // namespace
}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The plain product on a GPU: every type, layout and part of the epilogue, and more elements than
// 32 bits count.
#include <gtest/gtest.h>

#include <cstddef>

#include "kernels/gemm/mma_sync/plan.hpp"
#include "kernels/gemm/tests/gpu_problem.hpp"

namespace assay::kernels {
namespace {

struct Size {
  int m, n, k;
};

TEST(GemmMmaSyncOnGpu, IsRightAndWritesNothingElse) {
  if (!has_gpu()) GTEST_SKIP() << "needs a GPU";
  for (const Size& s : {Size{8, 16, 16}, {72, 80, 144}, {136, 272, 1008}, {2056, 1552, 528}})
    for (const char* a : {"bf16", "f16", "e4m3", "e5m2"})
      for (const char* b : {"bf16", "f16", "e4m3", "e5m2"})
        for (const char* layout : {"nt", "nn", "tn", "tt"})
          for (const char* d : {"bf16", "f16", "f32"})
            for (int dress = 0; dress < 4; ++dress) {
              GemmProblem p{.m = s.m, .n = s.n, .k = s.k, .type = a};
              p.layout = layout;
              p.type_b = b;
              p.type_d = d;
              if (!refusal_mma_sync(p).empty()) continue;
              if (dress > 0) {
                p.alpha = 0.5f;
                p.beta = dress == 1 ? 2.0f : 0.0f;
                p.bias = dress >= 2;
                p.activation = static_cast<Activation>(dress);
                if (a[0] == 'e') p.scaling = static_cast<Scaling>(dress % 3);
              }
              const GpuProblem on_gpu(p);
              EXPECT_EQ(on_gpu.error_of(plan_mma_sync(p, on_gpu.operands())), "");
            }
}

TEST(GemmMmaSyncOnGpu, CountsElementsIn64Bits) {
  if (!has_gpu()) GTEST_SKIP() << "needs a GPU";
  // D, A and B have more than 2^31 elements in turn.
  for (const Size& s : {Size{70000, 32768, 16}, {131080, 16, 16400}, {16, 131088, 16400}}) {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    if (free < (std::size_t{6} << 30)) GTEST_SKIP() << "needs 6 GiB";
    for (const char* layout : {"nt", "nn", "tn"}) {
      GemmProblem p{.m = s.m, .n = s.n, .k = s.k};
      p.layout = layout;
      const GpuProblem on_gpu(p);
      EXPECT_EQ(on_gpu.error_of(plan_mma_sync(p, on_gpu.operands())), "");
    }
  }
}

}  // namespace
}  // namespace assay::kernels

// SPDX-License-Identifier: Apache-2.0
// The bf16 product on tcgen05 in the host model: right and clean over seeds, for one CTA and for a
// pair. Model, not silicon.
#include <gtest/gtest.h>

#include "harness/model_case/model_case.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/sm100/variant_sm100.hpp"

namespace assay::kernels {
namespace {

TEST(GemmSm100, FitsAnSm) {
  for (const GemmVariantSm100& v : gemm_bf16_nt_variants_sm100())
    EXPECT_LE(v.shared_bytes, 227 * 1024) << v.name;
}

TEST(GemmSm100, IsChosenForBf16OnItsTargets) {
  for (const Target target : {Target::sm_100a, Target::sm_103a}) {
    EXPECT_EQ(gemm_paths().choose({.m = 64, .n = 64, .k = 64}, target).name, "sm100");
    for (const GemmProblem& other : {GemmProblem{.m = 64, .n = 64, .k = 64, .type = "f16"},
                                     GemmProblem{.m = 64, .n = 64, .k = 64, .type_d = "f32"},
                                     GemmProblem{.m = 64, .n = 64, .k = 64, .beta = 1},
                                     GemmProblem{.m = 64, .n = 64, .k = 64, .bias = true}})
      EXPECT_EQ(gemm_paths().choose(other, target).name, "mma_sync") << other.text();
  }
}

TEST(GemmModelSm100, IsRightAndCleanOverSeeds) {
  std::size_t cases = 0;
  for (const ModelCase& c : model_cases()) {
    if (!c.name.starts_with("kernels/gemm/tcgen05/bf16/")) continue;
    ++cases;
    model::Gpu gpu(ptx_of(c.kernels));
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const ModelResult result = c.run(gpu, {.seed = seed});
      EXPECT_TRUE(result.outcome.finished) << c.name << " seed " << seed;
      EXPECT_EQ(result.wrong, "") << c.name << " seed " << seed;
      for (const model::Finding& f : result.outcome.findings)
        ADD_FAILURE() << c.name << " seed " << seed << ": " << model::to_text(f);
    }
  }
  EXPECT_EQ(cases, 14u);
}

}  // namespace
}  // namespace assay::kernels

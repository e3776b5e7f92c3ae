// SPDX-License-Identifier: Apache-2.0
// The plain product in the host model: right and clean, in every type, layout and tile.
// ASSAY_MODEL_SEEDS sets how many orders each is run in.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/model_case/model_case.hpp"

namespace assay::kernels {
namespace {

TEST(GemmModelMmaSync, IsRightAndClean) {
  const char* wanted = std::getenv("ASSAY_MODEL_SEEDS");
  const std::uint64_t seeds = wanted ? std::strtoull(wanted, nullptr, 10) : 3;
  int cases = 0;
  for (const ModelCase& c : model_cases()) {
    if (!c.name.starts_with("kernels/gemm/mma_sync/")) continue;
    ++cases;
    model::Gpu gpu(ptx_of(c.kernel, c.second));
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const ModelResult result = c.run(gpu, {.seed = seed});
      EXPECT_TRUE(result.outcome.finished) << c.name << " seed " << seed;
      EXPECT_EQ(result.wrong, "") << c.name << " seed " << seed;
      for (const model::Finding& f : result.outcome.findings)
        ADD_FAILURE() << c.name << " seed " << seed << ": " << model::to_text(f);
    }
  }
  EXPECT_EQ(cases, 78);
}

}  // namespace
}  // namespace assay::kernels

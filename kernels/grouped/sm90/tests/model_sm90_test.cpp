// SPDX-License-Identifier: Apache-2.0
// The grouped products in the host model: right, clean, and nothing written that is no group's.
// ASSAY_MODEL_SEEDS sets how many orders each form is run in.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/model_case/model_case.hpp"

namespace assay::kernels {
namespace {

TEST(GroupedModelSm90, EveryFormIsRightAndClean) {
  const char* wanted = std::getenv("ASSAY_MODEL_SEEDS");
  const std::uint64_t seeds = wanted ? std::strtoull(wanted, nullptr, 10) : 1;
  std::uint64_t ran = 0;
  for (const ModelCase& c : model_cases()) {
    if (!c.name.starts_with("kernels/grouped/")) continue;
    ++ran;
    for (std::uint64_t seed = ran % 4; seed < ran % 4 + seeds; ++seed) {
      model::Gpu gpu(ptx_of(c.kernel));
      const ModelResult result = c.run(gpu, {.seed = seed});
      EXPECT_TRUE(result.outcome.finished) << c.name << " seed " << seed;
      EXPECT_EQ(result.wrong, "") << c.name << " seed " << seed;
      for (const model::Finding& f : result.outcome.findings)
        ADD_FAILURE() << c.name << " seed " << seed << ": " << model::to_text(f);
    }
  }
  EXPECT_GT(ran, 90u);
}

}  // namespace
}  // namespace assay::kernels
